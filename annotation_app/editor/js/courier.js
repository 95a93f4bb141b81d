// Where there is no record to show: what this tab has not delivered yet goes out all the same.

const COURIERS = new WeakMap();

function mountCourier({ data, parentElement, setStateValue }) {
  let courier = COURIERS.get(parentElement);
  const fresh = !courier || courier.person !== data.person;
  if (fresh) {
    dismissCourier(parentElement);
    courier = { person: data.person, mounts: 0 };
    courier.outbox = openOutbox(data.person, (value) => courier.setStateValue("outbox", value), () => {});
    COURIERS.set(parentElement, courier);
  }
  courier.setStateValue = setStateValue;
  courier.outbox.acknowledge(data.acknowledged);
  if (fresh) courier.outbox.deliver();
  courier.mounts += 1;
  const mine = courier.mounts;
  // As with the editor: the clean-up of an overtaken call may come late.
  return () => {
    if (courier.mounts === mine) courier.outbox.close();
  };
}

function dismissCourier(root) {
  COURIERS.get(root)?.outbox.close();
  COURIERS.delete(root);
}
