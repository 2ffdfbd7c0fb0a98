'use strict';
// Lets @stomp/stompjs judge a STOMP server over TCP.
//
// `list` prints the names of all checks; `run --url U [NAME...]` runs them, and prints one line of JSON for each.
// stompjs speaks to a WebSocket; `Line` gives it a TCP socket with the same interface.

const net = require('node:net');

const LIMIT_MS = 30_000;
const options = { url: 'stomp://127.0.0.1:61613' };

class Line {
  constructor() {
    const { hostname, port } = new URL(options.url);
    this.binaryType = 'arraybuffer';
    this.readyState = 0;
    this.socket = net.connect(Number(port), hostname);
    this.socket.on('connect', () => {
      this.readyState = 1;
      this.onopen?.({});
    });
    this.socket.on('data', (data) => this.onmessage?.({ data: new Uint8Array(data).buffer }));
    this.socket.on('error', (error) => this.onerror?.(error));
    this.socket.on('close', () => {
      this.readyState = 3;
      this.onclose?.({ code: 1000, reason: '', wasClean: true });
    });
    this.socket.on('end', () => this.socket.end());
  }

  send(data) {
    this.socket.write(typeof data === 'string' ? data : Buffer.from(data));
  }

  close() {
    this.socket.end();
  }

  terminate() {
    this.socket.destroy();
  }
}

function later() {
  const found = {};
  found.promise = new Promise((resolve, reject) => Object.assign(found, { resolve, reject }));
  return found;
}

async function connected(given = {}) {
  const { Client, Versions } = require('@stomp/stompjs');
  const open = later();
  const errors = later();
  const closed = later();
  const { versions = ['1.2', '1.1', '1.0'], ...more } = given;
  const client = new Client({
    webSocketFactory: () => new Line(),
    stompVersions: new Versions(versions),
    reconnectDelay: 0,
    forceBinaryWSFrames: true,
    heartbeatIncoming: 0,
    heartbeatOutgoing: 0,
    onConnect: open.resolve,
    onStompError: errors.resolve,
    onWebSocketClose: closed.resolve,
    ...more,
  });
  client.activate();
  await open.promise;
  return { client, errors: errors.promise, closed: closed.promise };
}

function receipt(client, act) {
  const name = `r${Math.random()}`;
  const found = later();
  client.watchForReceipt(name, found.resolve);
  act({ receipt: name });
  return found.promise;
}

async function subscribed(client, destination, headers = {}) {
  const waiting = [];
  const takers = [];
  const name = `s${Math.random()}`;
  const found = later();
  client.watchForReceipt(name, found.resolve);
  const subscription = client.subscribe(
    destination,
    (message) => (takers.length ? takers.shift()(message) : waiting.push(message)),
    { receipt: name, ...headers },
  );
  await found.promise;
  const next = () => (waiting.length ? Promise.resolve(waiting.shift()) : new Promise((resolve) => takers.push(resolve)));
  const none = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (waiting.length) throw new Error(`a message came: ${waiting[0].body}`);
  };
  return { subscription, next, none };
}

function equal(found, expected) {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
}

async function ended(client) {
  await client.deactivate();
}

async function round(to, version) {
  const { client } = await connected({ versions: [version] });
  equal(client.connectedVersion, version);
  const { next } = await subscribed(client, to);
  client.publish({ destination: to, body: 'hello €' });
  equal((await next()).body, 'hello €');
  await ended(client);
}

async function left(to, count) {
  const { client } = await connected();
  const { next, none } = await subscribed(client, to);
  const bodies = [];
  while (bodies.length < count) bodies.push((await next()).body);
  await none();
  await ended(client);
  return bodies.sort();
}

async function three(to, ack) {
  const { client } = await connected();
  const { next } = await subscribed(client, to, { ack });
  for (const body of ['0', '1', '2']) client.publish({ destination: to, body });
  const messages = [await next(), await next(), await next()];
  return { client, messages };
}

const checks = {
  async version_1_0(to) {
    await round(to, '1.0');
  },
  async version_1_1(to) {
    await round(to, '1.1');
  },
  async version_1_2(to) {
    await round(to, '1.2');
  },
  async receipts(to) {
    const { client } = await connected();
    const sent = Array.from({ length: 20 }, () =>
      receipt(client, (headers) => client.publish({ destination: to, body: 'x', headers: { persistent: 'true', ...headers } })));
    await Promise.all(sent);
    await ended(client);
  },
  async ack_client_is_cumulative(to) {
    const { client, messages } = await three(to, 'client');
    await receipt(client, (headers) => messages[1].ack(headers));
    await ended(client);
    equal(await left(to, 1), ['2']);
  },
  async ack_individual_and_the_rest_come_again(to) {
    const { client, messages } = await three(to, 'client-individual');
    await receipt(client, (headers) => messages[1].ack(headers));
    client.forceDisconnect();
    const again = await connected();
    const { next, none } = await subscribed(again.client, to, { ack: 'client' });
    equal([(await next()).body, (await next()).body].sort(), ['0', '2']);
    await none();
    await ended(again.client);
  },
  async nack_comes_again(to) {
    const { client } = await connected();
    const { next } = await subscribed(client, to, { ack: 'client-individual' });
    client.publish({ destination: to, body: 'x' });
    (await next()).nack();
    const again = await next();
    equal(again.headers.redelivered, 'true');
    again.ack();
    await ended(client);
  },
  async commit(to) {
    const { client } = await connected();
    const { next, none } = await subscribed(client, to);
    const transaction = client.begin();
    client.publish({ destination: to, body: 'x', headers: { transaction: transaction.id } });
    await none();
    transaction.commit();
    equal((await next()).body, 'x');
    await ended(client);
  },
  async abort(to) {
    const { client } = await connected();
    const { none } = await subscribed(client, to);
    const transaction = client.begin();
    client.publish({ destination: to, body: 'x', headers: { transaction: transaction.id } });
    transaction.abort();
    await none();
    await ended(client);
  },
  async ack_in_a_transaction(to) {
    const { client, messages } = await three(to, 'client-individual');
    const transaction = client.begin();
    messages[0].ack({ transaction: transaction.id });
    transaction.abort();
    await receipt(client, (headers) => messages[0].ack(headers));
    await ended(client);
  },
  async headers_with_special_characters(to) {
    const { client } = await connected({ versions: ['1.2'] });
    const { next } = await subscribed(client, to);
    // stompjs escapes values, not names
    client.publish({ destination: to, body: 'x', headers: { special: 'c\\d:e\nf\rg', ü: 'grün' } });
    const { headers } = await next();
    equal([headers.special, headers['ü']], ['c\\d:e\nf\rg', 'grün']);
    await ended(client);
  },
  async bodies(to) {
    const { client } = await connected();
    const { next } = await subscribed(client, to);
    const octets = Uint8Array.from({ length: 1000 }, (_, at) => at % 256);
    client.publish({ destination: to, binaryBody: octets });
    equal(Array.from((await next()).binaryBody), Array.from(octets));
    client.publish({ destination: to, body: 'y'.repeat(2_000_000) });
    equal((await next()).body.length, 2_000_000);
    client.publish({ destination: to, body: 'without a length', skipContentLengthHeader: true });
    equal((await next()).body, 'without a length');
    await ended(client);
  },
  async unsubscribe(to) {
    const { client } = await connected();
    const { subscription, none } = await subscribed(client, to);
    await receipt(client, (headers) => subscription.unsubscribe(headers));
    client.publish({ destination: to, body: 'x' });
    await none();
    await ended(client);
  },
  async heart_beats() {
    const { client, closed } = await connected({ heartbeatIncoming: 800, heartbeatOutgoing: 800 });
    const first = await Promise.race([closed.then(() => 'closed'), new Promise((resolve) => setTimeout(resolve, 3_000, 'open'))]);
    equal(first, 'open');
    await ended(client);
  },
  async an_error_ends_the_connection(to) {
    const { client, errors, closed } = await connected();
    client.publish({ destination: to, body: 'x', headers: { transaction: 'none', receipt: 'r' } });
    equal((await errors).headers['receipt-id'], 'r');
    await closed;
    await ended(client);
  },
};

async function tried(name) {
  const begun = performance.now();
  let detail = '';
  try {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not done within ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    await Promise.race([checks[name](`/queue/stompjs.${name}`), late]).finally(() => clearTimeout(timer));
  } catch (error) {
    detail = String(error?.stack ?? error);
  }
  return { check: name, ok: detail === '', ms: Math.round(performance.now() - begun), detail };
}

async function main([mode, ...rest]) {
  const chosen = [];
  for (let index = 0; index < rest.length; index++) {
    if (rest[index].startsWith('--')) options[rest[index].slice(2)] = rest[++index];
    else chosen.push(rest[index]);
  }
  for (const name of Object.keys(checks)) {
    if (mode === 'list') console.log(name);
    else if (!chosen.length || chosen.includes(name)) console.log(JSON.stringify(await tried(name)));
  }
}

main(process.argv.slice(2)).then(() => process.exit(0));
