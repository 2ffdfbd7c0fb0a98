'use strict';
// What is said at the open, who may be there twice, heartbeats, logins.

const { accepted, assert, event, pause, rhea, shut } = require('../bench.js');
const fs = require('node:fs');

const symbols = (array) => (array ?? []).map(String);

/** A connection attempt and the error that ends it. */
function attempt(bench, more) {
  const url = new URL(more.url ?? bench.options.url);
  const container = rhea.create_container({ id: `rhea.attempt.${bench.name}` });
  container.on('error', () => {});
  const connection = container.connect({ host: url.hostname, port: Number(url.port), reconnect: false, ...more });
  return connection;
}

async function closedWith(connection) {
  const error = event(connection, 'connection_error');
  connection.on('connection_close', () => {});
  await error;
  return connection.error;
}

async function works(bench, connection) {
  await accepted(await bench.sender(connection, bench.queue), 'a');
  const inbox = await bench.receiver(connection, bench.queue);
  inbox.receiver.add_credit(1);
  const { message, delivery } = await inbox.next();
  delivery.accept();
  assert.equal(message.body, 'a');
  await shut(connection);
}

module.exports = {
  async open_says_what_is_offered(bench) {
    const connection = await bench.connect();
    const offered = symbols(connection.remote.open.offered_capabilities);
    for (const capability of ['DELAYED_DELIVERY', 'SHARED-SUBS', 'ANONYMOUS-RELAY']) {
      assert.ok(offered.includes(capability), `${capability} is not among ${offered}`);
    }
    assert.ok(connection.remote.open.container_id);
    assert.ok(connection.properties.product);
    assert.ok(connection.properties.version);
  },

  async container_id_alone_if_it_wants_to_be(bench) {
    const options = { container_id: 'rhea.alone', desired_capabilities: ['sole-connection-for-container'] };
    await bench.connect(options);
    const container = rhea.create_container({ id: options.container_id });
    const url = new URL(bench.options.url);
    const { user: username, password } = bench.options;
    const second = container.connect({
      host: url.hostname, port: Number(url.port), username, password, reconnect: false, ...options,
    });
    const opened = event(second, 'connection_open').catch(() => {});
    const error = await closedWith(second);
    await opened;
    assert.equal(error.condition, 'amqp:invalid-field');
    assert.equal(String(error.info['invalid-field']), 'container-id');
    assert.ok(second.properties?.['amqp:connection-establishment-failed'], 'the open does not tell of the failure');
  },

  async container_id_of_several_that_do_not_mind(bench) {
    const one = await bench.connect({ container_id: 'rhea.several' });
    const two = await bench.connect({ container_id: 'rhea.several' });
    await works(bench, one);
    await works(bench, two);
  },

  async idle_connection_is_kept(bench) {
    const connection = await bench.connect({ idle_time_out: 1500 });
    await pause(5_000); // several times the idle timeout: real time is what is tried
    await works(bench, connection);
  },

  async link_error_leaves_the_others_alone(bench) {
    const connection = await bench.connect();
    const other = connection.open_receiver({
      source: { address: bench.queue, capabilities: ['queue'], filter: rhea.filter.selector('= =') }, credit_window: 0,
    });
    await event(other, 'receiver_error');
    await works(bench, connection);
  },

  async twenty_sessions(bench) {
    const connection = await bench.connect();
    const sessions = Array.from({ length: 20 }, () => connection.create_session());
    await Promise.all(
      sessions.map((session) => {
        const opened = event(session, 'session_open');
        session.begin();
        return opened;
      }),
    );
    for (const session of sessions) await accepted(await bench.sender(session, bench.queue), 'm');
    await Promise.all(sessions.map((session) => shut(session)));
    assert.equal((await bench.takeAll()).length, 20);
  },

  login_plain: [
    async (bench) => works(bench, await bench.connect({ username: bench.options.user, password: bench.options.password })),
    'users',
  ],

  login_wrong_password: [
    async (bench) => {
      const connection = attempt(bench, { username: bench.options.user, password: 'wrong' });
      const error = event(connection, 'connection_error').then(() => connection.error ?? connection.get_error());
      const gone = event(connection, 'disconnected').then(({ error: reason }) => reason);
      error.catch(() => {});
      gone.catch(() => {});
      await Promise.any([error, gone]);
      assert.ok(!connection.is_remote_open(), 'it is open');
      await works(bench, await bench.connect());
    },
    'users',
  ],

  login_anonymous: [async (bench) => works(bench, await bench.connect({ username: undefined, password: undefined })), 'anonymous'],

  tls: [
    async (bench) => {
      const url = new URL(bench.options['tls-url']);
      const ca = [fs.readFileSync(bench.options.ca)];
      const secure = { transport: 'tls', host: url.hostname, port: Number(url.port), ca, servername: 'localhost' };
      await works(bench, await bench.connect(secure));
    },
    'tls',
  ],
};
