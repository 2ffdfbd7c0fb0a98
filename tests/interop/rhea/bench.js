'use strict';
// Where one check works: its server, its destinations, and the connections that it has opened.

const rhea = require('rhea');
const assert = require('node:assert/strict');

const SOON_MS = 10_000;

/** The next event of this name; an error where it does not come soon. */
function event(emitter, name, limit = SOON_MS) {
  const called = new Error(`no ${name} within ${limit} ms`); // with the caller's lines
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(called), limit);
    emitter.once(name, (context) => {
      clearTimeout(timer);
      resolve(context);
    });
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a receiver gets, for whoever asks for it first. */
class Inbox {
  #contexts = [];
  #waiting = [];

  constructor(receiver) {
    this.receiver = receiver;
    receiver.on('message', (context) => {
      const waiting = this.#waiting.shift();
      waiting ? waiting(context) : this.#contexts.push(context);
    });
  }

  get size() {
    return this.#contexts.length;
  }

  /** The next delivery, which comes soon. */
  next(limit = SOON_MS) {
    if (this.#contexts.length) return Promise.resolve(this.#contexts.shift());
    const called = new Error(`no message within ${limit} ms`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(called), limit);
      this.#waiting.push((context) => {
        clearTimeout(timer);
        resolve(context);
      });
    });
  }

  /** The bodies of the next deliveries, in their order. */
  async bodies(count) {
    const bodies = [];
    while (bodies.length < count) bodies.push((await this.next()).message.body);
    return bodies;
  }

  /** Take all credit back; by then everything that there was for it has come. */
  async drained() {
    const done = event(this.receiver, 'receiver_drained');
    this.receiver.drain_credit();
    await done;
    this.receiver.drain = false;
  }
}

class Bench {
  #opened = [];

  constructor(name, options) {
    this.name = name;
    this.options = options;
    this.queue = `rhea.${name}`;
    this.topic = `rhea/topic/${name}`;
    this.containers = 0;
  }

  /** An open connection in a container of its own. */
  async connect(more = {}) {
    const url = new URL(this.options.url);
    const container = rhea.create_container({ id: more.container_id ?? `rhea.${this.name}.${++this.containers}` });
    container.on('error', (error) => this.errors.push(error));
    for (const name of ['connection_error', 'session_error', 'disconnected']) container.on(name, () => {});
    const connection = container.connect({
      host: url.hostname,
      port: Number(url.port),
      username: this.options.user,
      password: this.options.password,
      reconnect: false,
      ...more,
    });
    this.#opened.push(connection);
    await event(connection, 'connection_open');
    return connection;
  }

  errors = [];

  /** A sender that has credit. */
  async sender(from, address, more = {}) {
    const { target, ...options } = more;
    const sender = from.open_sender({ target: { address, capabilities: ['queue'], ...target }, ...options });
    await event(sender, 'sendable');
    return sender;
  }

  /** A receiver without credit whose deliveries the check settles. */
  async receiver(from, address, more = {}) {
    const { source, ...options } = more;
    const receiver = from.open_receiver({
      source: { address, capabilities: ['queue'], ...source },
      credit_window: 0,
      autoaccept: false,
      ...options,
    });
    const inbox = new Inbox(receiver);
    await event(receiver, 'receiver_open');
    return inbox;
  }

  /** A receiver of a topic. */
  subscriber(from, more = {}) {
    const { source, ...options } = more;
    return this.receiver(from, this.topic, { source: { capabilities: ['topic'], ...source }, ...options });
  }

  /** Bodies of all messages that are in the queue, taken out over a connection of its own. */
  async takeAll(address = this.queue) {
    const connection = await this.connect();
    const inbox = await this.receiver(connection, address, { autoaccept: true });
    inbox.receiver.add_credit(1_000);
    const bodies = [];
    await pause(50); // some servers answer a drain before they have looked into the queue
    await inbox.drained();
    while (inbox.size) bodies.push((await inbox.next()).message.body);
    await shut(inbox.receiver);
    await shut(connection);
    return bodies;
  }

  /** Break the line, without a word to the server. */
  cut(connection) {
    this.#opened.splice(this.#opened.indexOf(connection), 1);
    connection.socket.destroy();
  }

  async end() {
    const errors = [...this.errors]; // without those of links to what goes with the first connection
    for (const connection of this.#opened) {
      if (connection.is_open()) await shut(connection).catch(() => {});
    }
    assert.deepEqual(errors, [], 'errors that nobody expected');
  }
}

/** Close a connection, session or link, and wait until the other side has, too. */
async function shut(endpoint) {
  const kind = endpoint.open_sender ? (endpoint.create_session ? 'connection' : 'session') : endpoint.is_receiver() ? 'receiver' : 'sender';
  const done = event(endpoint, `${kind}_close`);
  endpoint.close();
  await done;
}

const answering = new WeakMap(); // sender -> delivery -> what to do with its outcome

function answers(sender) {
  let waiting = answering.get(sender);
  if (!waiting) {
    waiting = new Map();
    answering.set(sender, waiting);
    for (const outcome of ['accepted', 'rejected', 'released', 'modified']) {
      sender.on(outcome, ({ delivery }) => waiting.get(delivery)?.(outcome));
    }
  }
  return waiting;
}

/** Send, and wait for the outcome: its name and the delivery. */
function sent(sender, message) {
  const called = new Error(`no outcome within ${SOON_MS} ms`);
  const waiting = answers(sender);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(called), SOON_MS);
    const delivery = sender.send(typeof message === 'string' ? { body: message } : message);
    waiting.set(delivery, (outcome) => {
      clearTimeout(timer);
      waiting.delete(delivery);
      resolve({ outcome, delivery });
    });
  });
}

async function accepted(sender, ...messages) {
  const answers = await Promise.all(messages.map((message) => sent(sender, message)));
  for (const answer of answers) assert.equal(answer.outcome, 'accepted');
}

const series = (prefix, count) => Array.from({ length: count }, (_, number) => `${prefix}${number}`);

module.exports = { Bench, Inbox, accepted, assert, event, pause, rhea, sent, series, shut };
