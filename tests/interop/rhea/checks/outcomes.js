'use strict';
// What happens to a message by the outcome that its receiver gives it, and what a sender hears.

const { accepted, assert, event, pause, rhea, sent, series, shut } = require('../bench.js');

async function one(bench, more) {
  const connection = await bench.connect();
  const sender = await bench.sender(connection, bench.queue);
  await accepted(sender, 'a');
  const inbox = await bench.receiver(connection, bench.queue, more);
  inbox.receiver.add_credit(1);
  const first = await inbox.next();
  assert.equal(first.message.delivery_count ?? 0, 0);
  assert.ok(!first.delivery.remote_settled, 'it came settled');
  return { connection, inbox, first, delivery: first.delivery };
}

async function again(inbox) {
  inbox.receiver.add_credit(1);
  const { message, delivery } = await inbox.next();
  assert.equal(message.body, 'a');
  delivery.accept();
  return message;
}

module.exports = {
  async accepted_is_gone(bench) {
    const { connection, delivery } = await one(bench);
    delivery.accept();
    await shut(connection);
    assert.deepEqual(await bench.takeAll(), []);
  },

  async released_comes_again_uncounted(bench) {
    const { inbox, delivery } = await one(bench);
    delivery.release();
    assert.equal((await again(inbox)).delivery_count ?? 0, 0);
  },

  async modified_failed_comes_again_counted(bench) {
    const { inbox, delivery } = await one(bench);
    delivery.modified({ delivery_failed: true });
    assert.equal((await again(inbox)).delivery_count, 1);
  },

  async modified_not_failed_comes_again_uncounted(bench) {
    const { inbox, delivery } = await one(bench);
    delivery.modified({ delivery_failed: false });
    assert.equal((await again(inbox)).delivery_count ?? 0, 0);
  },

  modified_undeliverable_here_goes_to_another: [
    async (bench) => {
      const { connection, inbox, delivery } = await one(bench);
      delivery.modified({ delivery_failed: true, undeliverable_here: true });
      await pause(100); // until the server knows
      inbox.receiver.add_credit(1);
      await pause(200);
      assert.equal(inbox.size, 0, 'it came again to the receiver that cannot handle it');
      const other = await bench.receiver(connection, bench.queue);
      assert.equal((await again(other)).delivery_count, 1);
    },
    'leaves-a-link-out',
  ],

  async rejected_does_not_come_again(bench) {
    const { inbox, delivery } = await one(bench);
    delivery.reject({ condition: 'amqp:not-implemented', description: 'on purpose' });
    inbox.receiver.add_credit(1);
    await inbox.drained();
    assert.equal(inbox.size, 0);
  },

  async unsettled_comes_again_when_the_link_closes(bench) {
    const { connection, inbox } = await one(bench);
    await shut(inbox.receiver);
    await again(await bench.receiver(connection, bench.queue));
  },

  async unsettled_comes_again_when_the_link_detaches(bench) {
    const { connection, inbox } = await one(bench);
    const done = event(inbox.receiver, 'receiver_close');
    inbox.receiver.detach();
    await done;
    await again(await bench.receiver(connection, bench.queue));
  },

  async unsettled_comes_again_when_the_session_ends(bench) {
    const connection = await bench.connect();
    await accepted(await bench.sender(connection, bench.queue), 'a');
    const session = connection.create_session();
    session.begin();
    const inbox = await bench.receiver(session, bench.queue);
    inbox.receiver.add_credit(1);
    await inbox.next();
    await shut(session);
    await again(await bench.receiver(connection, bench.queue));
  },

  async unsettled_comes_again_when_the_line_breaks(bench) {
    const { connection } = await one(bench);
    bench.cut(connection);
    const other = await bench.connect();
    await again(await bench.receiver(other, bench.queue));
  },

  async settled_in_any_order(bench) {
    const connection = await bench.connect();
    const bodies = series('m', 60);
    await accepted(await bench.sender(connection, bench.queue), ...bodies);
    const inbox = await bench.receiver(connection, bench.queue);
    inbox.receiver.add_credit(60);
    const got = [];
    while (got.length < 60) got.push(await inbox.next());
    assert.deepEqual(got.map(({ message }) => message.body), bodies);
    for (const { delivery } of got.filter((_, number) => number % 3 === 1).reverse()) delivery.accept();
    for (const { delivery } of got.filter((_, number) => number % 3 === 0)) delivery.release();
    for (const { delivery } of got.filter((_, number) => number % 3 === 2).reverse()) delivery.accept();
    await shut(inbox.receiver);
    assert.deepEqual(await bench.takeAll(), bodies.filter((_, number) => number % 3 === 0));
  },

  receiver_settles_second: [
    async (bench) => {
      const connection = await bench.connect();
      await accepted(await bench.sender(connection, bench.queue), 'a', 'b');
      const inbox = await bench.receiver(connection, bench.queue, { rcv_settle_mode: 1 });
      assert.equal(inbox.receiver.rcv_settle_mode, 1);
      inbox.receiver.add_credit(2);
      const { delivery } = await inbox.next();
      const settled = event(inbox.receiver, 'settled');
      delivery.update(false, rhea.message.accepted().described());
      await settled;
      await shut(inbox.receiver);
      assert.deepEqual(await bench.takeAll(), ['b']);
    },
    'settles-second',
  ],

  async presettled_send(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue, { snd_settle_mode: 1 });
    for (const body of series('m', 50)) sender.send({ body });
    await shut(sender);
    assert.deepEqual(await bench.takeAll(), series('m', 50));
  },

  async presettled_receive(bench) {
    const connection = await bench.connect();
    await accepted(await bench.sender(connection, bench.queue), 'a', 'b');
    const inbox = await bench.receiver(connection, bench.queue, { snd_settle_mode: 1 });
    assert.equal(inbox.receiver.snd_settle_mode, 1);
    inbox.receiver.add_credit(1);
    const { message, delivery } = await inbox.next();
    assert.equal(message.body, 'a');
    assert.ok(delivery.remote_settled, 'it came unsettled');
    bench.cut(connection);
    await pause(100);
    assert.deepEqual(await bench.takeAll(), ['b']);
  },

  rejected_with_condition_and_info: [
    async (bench) => {
      const connection = await bench.connect();
      const sender = await bench.sender(connection, 'rhea.takes.one');
      await accepted(sender, 'first');
      const { outcome, delivery } = await sent(sender, 'second');
      assert.equal(outcome, 'rejected');
      const { error } = delivery.remote_state;
      assert.equal(error.condition, 'amqp:resource-limit-exceeded');
      assert.match(error.description, /2053/);
      assert.equal(Number(error.info['x-opt-mqrc']), 2053);
      assert.deepEqual(await bench.takeAll('rhea.takes.one'), ['first']);
      await accepted(sender, 'third');
      assert.deepEqual(await bench.takeAll('rhea.takes.one'), ['third']);
    },
    'administered',
  ],
};
