'use strict';
// Links' credit, drain, and the sessions' windows.

const { accepted, assert, pause, series, shut } = require('../bench.js');

async function filled(bench, count, more) {
  const connection = await bench.connect(more);
  await accepted(await bench.sender(connection, bench.queue), ...series('m', count));
  return connection;
}

async function all(inbox, count) {
  const bodies = [];
  while (bodies.length < count) {
    const { message, delivery } = await inbox.next();
    delivery.accept();
    bodies.push(message.body);
  }
  return bodies;
}

module.exports = {
  async credit_is_never_exceeded(bench) {
    const connection = await filled(bench, 10);
    const inbox = await bench.receiver(connection, bench.queue);
    await pause(100);
    assert.equal(inbox.size, 0, 'something came without credit');
    inbox.receiver.add_credit(3);
    assert.deepEqual(await all(inbox, 3), ['m0', 'm1', 'm2']);
    await pause(200);
    assert.equal(inbox.size, 0, 'more came than there was credit for');
    inbox.receiver.add_credit(7);
    assert.deepEqual(await all(inbox, 7), series('m', 10).slice(3));
  },

  async drain_gives_what_there_is(bench) {
    const connection = await filled(bench, 3);
    const inbox = await bench.receiver(connection, bench.queue);
    inbox.receiver.add_credit(10);
    const bodies = await all(inbox, 3);
    await inbox.drained();
    assert.deepEqual(bodies, ['m0', 'm1', 'm2']);
    assert.equal(inbox.receiver.credit, 0);
    const sender = await bench.sender(connection, bench.queue);
    await accepted(sender, 'later');
    await pause(100);
    assert.equal(inbox.size, 0, 'it came after the drain, without credit');
    inbox.receiver.add_credit(1);
    assert.deepEqual(await all(inbox, 1), ['later']);
  },

  drain_that_all_credit_is_used_for_is_answered: [
    async (bench) => {
      const connection = await filled(bench, 10);
      const inbox = await bench.receiver(connection, bench.queue);
      inbox.receiver.add_credit(5);
      await inbox.drained();
      assert.equal(inbox.receiver.credit, 0);
      assert.deepEqual(await all(inbox, 5), series('m', 5));
      assert.deepEqual(await bench.takeAll(), series('m', 10).slice(5));
    },
    'answers-every-drain',
  ],

  drain_comes_after_all_that_is_there: [
    async (bench) => {
      const connection = await filled(bench, 30);
      const inbox = await bench.receiver(connection, bench.queue);
      inbox.receiver.add_credit(100);
      await inbox.drained();
      assert.equal(inbox.size, 30);
    },
    'prompt-drain',
  ],

  async drain_of_an_empty_queue(bench) {
    const connection = await bench.connect();
    await bench.sender(connection, bench.queue);
    const inbox = await bench.receiver(connection, bench.queue);
    for (let round = 0; round < 5; round++) {
      inbox.receiver.add_credit(10);
      await inbox.drained();
      assert.equal(inbox.receiver.credit, 0);
      assert.equal(inbox.size, 0);
    }
  },

  async credit_window_of_one(bench) {
    const connection = await filled(bench, 50);
    const inbox = await bench.receiver(connection, bench.queue, { credit_window: 1 });
    assert.deepEqual(await all(inbox, 50), series('m', 50));
  },

  async session_window_of_the_client(bench) {
    const connection = await filled(bench, 100);
    await shut(connection);
    const narrow = await bench.connect({ session_buffer_size: { incoming: 4, outgoing: 2048 } });
    const inbox = await bench.receiver(narrow, bench.queue);
    inbox.receiver.add_credit(100);
    await pause(200);
    assert.ok(inbox.size <= 4, `${inbox.size} transfers came into a window of 4`);
    assert.deepEqual(await all(inbox, 100), series('m', 100));
  },

  async session_window_of_the_client_with_multi_frame_messages(bench) {
    const body = Buffer.alloc(20_000, 7);
    const wide = await bench.connect();
    await accepted(await bench.sender(wide, bench.queue), { body }, { body }, { body });
    const narrow = await bench.connect({ max_frame_size: 1024 });
    const inbox = await bench.receiver(narrow, bench.queue);
    inbox.receiver.add_credit(3);
    for (const got of await all(inbox, 3)) assert.deepEqual(got, body);
  },

  async sender_without_credit_waits(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue);
    const count = 1_900;
    let done = 0;
    const finished = new Promise((resolve) => sender.on('accepted', () => ++done === count && resolve()));
    for (const body of series('m', count)) sender.send({ body, durable: false });
    await finished;
    await shut(sender);
    const inbox = await bench.receiver(connection, bench.queue, { credit_window: 500 });
    assert.deepEqual(await all(inbox, count), series('m', count));
  },

  async two_sessions_have_windows_of_their_own(bench) {
    const connection = await filled(bench, 20);
    const one = connection.create_session();
    const two = connection.create_session();
    one.begin();
    two.begin();
    const first = await bench.receiver(one, bench.queue);
    const second = await bench.receiver(two, bench.queue);
    first.receiver.add_credit(10);
    const bodies = await all(first, 10);
    second.receiver.add_credit(10);
    bodies.push(...(await all(second, 10)));
    assert.deepEqual(bodies, series('m', 20));
    await shut(one);
    const sender = await bench.sender(two, bench.queue);
    await accepted(sender, 'the other session goes on');
    second.receiver.add_credit(1);
    assert.deepEqual(await all(second, 1), ['the other session goes on']);
  },

  async waiting_receiver_is_served_at_once(bench) {
    const connection = await bench.connect();
    await bench.sender(connection, bench.queue);
    const inbox = await bench.receiver(connection, bench.queue);
    inbox.receiver.add_credit(1);
    const other = await bench.connect();
    const sender = await bench.sender(other, bench.queue);
    await pause(100);
    const got = inbox.next();
    await accepted(sender, 'a');
    const { message, delivery } = await got;
    delivery.accept();
    assert.equal(message.body, 'a');
  },
};
