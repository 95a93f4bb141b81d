// Where there is no record to show: what this tab has not delivered yet goes out all the same.

const SENDERS = new WeakMap();

function mountWithoutRecord({ data, parentElement, setStateValue }) {
  let sender = SENDERS.get(parentElement);
  const fresh = !sender || sender.person !== data.person;
  if (fresh) {
    closeSender(parentElement);
    sender = { person: data.person };
    sender.outbox = openOutbox(data.person, (value) => sender.setStateValue("outbox", value), () => {});
    sender.outbox.recordless = true;
    SENDERS.set(parentElement, sender);
  }
  sender.setStateValue = setStateValue;
  sender.outbox.acknowledge(data.acknowledged);
  if (fresh) sender.outbox.deliver();
  // As with the editor: the clean-up of an overtaken call must not end the tries of one that lives on.
  return () => {
    if (!parentElement.isConnected) sender.outbox.close();
  };
}

function closeSender(root) {
  SENDERS.get(root)?.outbox.close();
  SENDERS.delete(root);
}
