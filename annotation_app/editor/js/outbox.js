// What the person did and the server has not acknowledged yet. A page load has a client id of its own (a duplicated tab copies
// sessionStorage, and two tabs must not share sequence numbers); what an earlier load left behind is delivered first, under its own id.

const RETRY_SECONDS = [4, 8, 16, 30];

function randomName(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return prefix + [...bytes].map((byte) => byte.toString(36).padStart(2, "0")).join("");
}

/** sessionStorage where the browser allows it, else memory: then only a reload at the wrong moment can lose an edit. */
function tabStorage() {
  const memory = new Map();
  try {
    sessionStorage.getItem("piiloom");
    return sessionStorage;
  } catch {
    return { getItem: (name) => memory.get(name) ?? null, setItem: (name, text) => memory.set(name, text), removeItem: (name) => memory.delete(name) };
  }
}

function storedBatches(storage, name) {
  try {
    const batches = JSON.parse(storage.getItem(name) || "[]");
    return batches.filter((batch) => typeof batch.client === "string" && Array.isArray(batch.operations) && batch.operations.length);
  } catch {
    return [];
  }
}

/** The outbox of `person` in this tab. `send(value)` hands a value to the server; `changed()` is called when the waiting grows long. */
function openOutbox(person, send, changed) {
  const storage = tabStorage();
  const name = `piiloom-outbox:${person}`;
  const own = { client: randomName("c-"), next: 1, operations: [] };
  const outbox = { client: own.client, batches: [...storedBatches(storage, name), own], attempt: 0, tries: 0, timer: null, since: null, stored: true };

  const save = () => {
    try {
      const left = outbox.batches.filter((batch) => batch.operations.length);
      if (left.length) storage.setItem(name, JSON.stringify(left));
      else storage.removeItem(name);
      outbox.stored = true;
    } catch {
      outbox.stored = false; // the quota is used up: the operations still are in memory and on their way
    }
    renderConnection();
  };
  const waitAndRetry = () => {
    clearTimeout(outbox.timer);
    if (!outbox.pending().length) return;
    const seconds = RETRY_SECONDS[Math.min(outbox.tries, RETRY_SECONDS.length - 1)];
    outbox.timer = setTimeout(() => {
      outbox.tries += 1;
      outbox.deliver();
      changed();
    }, seconds * 1000);
  };

  outbox.pending = (record) => {
    const all = outbox.batches.flatMap((batch) => batch.operations);
    return record === undefined ? all : all.filter((one) => one.record === record);
  };
  outbox.deliver = () => {
    const batch = outbox.batches.find((one) => one.operations.length);
    if (!batch) return;
    outbox.attempt += 1; // a value that differs makes the server look at it again
    outbox.since = outbox.since ?? Date.now();
    send({ client: batch.client, operations: batch.operations, attempt: outbox.attempt });
    waitAndRetry();
  };
  outbox.add = (record, base, operation) => {
    own.operations = [...own.operations, { sequence: own.next, record, base, operation }];
    own.next += 1;
    save();
    outbox.deliver();
  };
  /** Takes what the server has acknowledged; gives those operations in their order. */
  outbox.acknowledge = (acknowledged) => {
    const done = [];
    const sending = outbox.batches.find((batch) => batch.operations.length);
    for (const batch of outbox.batches) {
      const last = (acknowledged || {})[batch.client] ?? 0;
      done.push(...batch.operations.filter((one) => one.sequence <= last));
      if (last) batch.operations = batch.operations.filter((one) => one.sequence > last);
    }
    if (!done.length) return done;
    outbox.tries = 0;
    outbox.since = outbox.pending().length ? Date.now() : null;
    save();
    if (sending && !sending.operations.length) outbox.deliver();
    waitAndRetry();
    return done;
  };
  outbox.close = () => {
    clearTimeout(outbox.timer);
    OUTBOXES.delete(outbox);
  };
  OUTBOXES.add(outbox);
  return outbox;
}
