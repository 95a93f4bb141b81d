// Where there is no record to show: what this tab has not delivered yet goes out all the same.

const COURIERS = new WeakMap();

function mountCourier({ data, parentElement, setStateValue }) {
  let courier = COURIERS.get(parentElement);
  const fresh = !courier || courier.person !== data.person;
  if (fresh) {
    dismissCourier(parentElement);
    courier = { person: data.person };
    courier.outbox = openOutbox(data.person, (value) => courier.setStateValue("outbox", value), () => {});
    COURIERS.set(parentElement, courier);
  }
  courier.setStateValue = setStateValue;
  courier.outbox.acknowledge(data.acknowledged);
  if (fresh) courier.outbox.deliver();
  // As with the editor: the clean-up of an overtaken call must not end the tries of one that lives on.
  return () => {
    if (!parentElement.isConnected) courier.outbox.close();
  };
}

function dismissCourier(root) {
  COURIERS.get(root)?.outbox.close();
  COURIERS.delete(root);
}
