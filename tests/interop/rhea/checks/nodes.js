'use strict';
// Addresses: dynamic ones, unknown ones, an anonymous terminus, filters of a source, browsing.

const { accepted, assert, event, rhea, sent, series, shut } = require('../bench.js');

async function refused(link) {
  const kind = link.is_receiver() ? 'receiver' : 'sender';
  const opened = event(link, `${kind}_open`);
  const failed = event(link, `${kind}_error`);
  await opened;
  const terminus = link.is_receiver() ? link.source : link.target;
  assert.ok(!terminus || terminus.address == null, `the attach has an address: ${terminus?.address}`);
  await failed;
  return link.error;
}

module.exports = {
  async dynamic_reply_address(bench) {
    const client = await bench.connect();
    const inbox = await bench.receiver(client, undefined, {
      source: { dynamic: true, capabilities: ['temporary-queue'] },
    });
    const address = inbox.receiver.source.address;
    assert.ok(address, 'the attach has no address');
    assert.ok(inbox.receiver.source.dynamic);
    inbox.receiver.add_credit(10);

    const service = await bench.connect();
    const requests = await bench.receiver(service, bench.queue);
    requests.receiver.add_credit(10);
    const asking = await bench.sender(client, bench.queue);
    await accepted(asking, { body: 'request', reply_to: address, message_id: 'r1' });
    const { message, delivery } = await requests.next();
    delivery.accept();
    const answering = await bench.sender(service, message.reply_to, { target: { capabilities: undefined } });
    await accepted(answering, { body: 'reply', correlation_id: message.message_id });
    const reply = await inbox.next();
    reply.delivery.accept();
    assert.equal(reply.message.body, 'reply');
    assert.equal(reply.message.correlation_id, 'r1');
  },

  async dynamic_without_a_capability_is_a_queue(bench) {
    const client = await bench.connect();
    const inbox = await bench.receiver(client, undefined, { source: { dynamic: true, capabilities: undefined } });
    const sender = await bench.sender(client, inbox.receiver.source.address, { target: { capabilities: undefined } });
    inbox.receiver.add_credit(1);
    await accepted(sender, 'a');
    assert.equal((await inbox.next()).message.body, 'a');
  },

  async dynamic_target(bench) {
    const client = await bench.connect();
    const sender = client.open_sender({ target: { dynamic: true, capabilities: ['temporary-queue'] } });
    await event(sender, 'sendable');
    const address = sender.target.address;
    assert.ok(address);
    await accepted(sender, 'a');
    const inbox = await bench.receiver(client, address, { source: { capabilities: undefined } });
    inbox.receiver.add_credit(1);
    assert.equal((await inbox.next()).message.body, 'a');
  },

  dynamic_is_gone_with_its_connection: [
    async (bench) => {
      const client = await bench.connect();
      const inbox = await bench.receiver(client, undefined, { source: { dynamic: true } });
      const address = inbox.receiver.source.address;
      await shut(client);
      const other = await bench.connect();
      const error = await refused(other.open_sender({ target: { address } }));
      assert.equal(error.condition, 'amqp:not-found');
    },
    'administered',
  ],

  unknown_address_is_refused: [
    async (bench) => {
      const connection = await bench.connect();
      const toSend = await refused(connection.open_sender({ target: { address: 'rhea.never.defined' } }));
      assert.equal(toSend.condition, 'amqp:not-found');
      assert.match(toSend.description, /2085/);
      const toReceive = await refused(
        connection.open_receiver({ source: { address: 'rhea.never.defined', capabilities: ['queue'] } }),
      );
      assert.equal(toReceive.condition, 'amqp:not-found');
      await accepted(await bench.sender(connection, bench.queue), 'the session goes on');
      assert.deepEqual(await bench.takeAll(), ['the session goes on']);
    },
    'administered',
  ],

  async anonymous_terminus(bench) {
    const connection = await bench.connect();
    assert.ok(connection.remote.open.offered_capabilities.map(String).includes('ANONYMOUS-RELAY'));
    await bench.sender(connection, bench.queue);
    const sender = await bench.sender(connection, undefined, { target: { capabilities: undefined } });
    await accepted(sender, { to: bench.queue, body: 'a' }, { to: bench.queue, body: 'b' });
    assert.deepEqual(await bench.takeAll(), ['a', 'b']);
  },

  anonymous_terminus_to_nowhere: [
    async (bench) => {
      const connection = await bench.connect();
      const sender = await bench.sender(connection, undefined, { target: { capabilities: undefined } });
      const { outcome, delivery } = await sent(sender, { to: 'rhea.never.defined', body: 'a' });
      assert.equal(outcome, 'rejected');
      assert.equal(delivery.remote_state.error.condition, 'amqp:not-found');
      const without = await sent(sender, { body: 'a' });
      assert.equal(without.outcome, 'rejected');
      await accepted(sender, { to: bench.queue, body: 'it goes on' });
      assert.deepEqual(await bench.takeAll(), ['it goes on']);
    },
    'administered',
  ],

  async selector_filter_is_echoed_and_applied(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue);
    for (const colour of ['red', 'blue', 'red']) {
      await accepted(sender, { body: colour, application_properties: { colour } });
    }
    const filter = rhea.filter.selector("colour = 'blue'");
    const inbox = await bench.receiver(connection, bench.queue, { source: { filter } });
    assert.ok(inbox.receiver.source.filter?.['jms-selector'], 'the filter is not echoed');
    inbox.receiver.add_credit(5);
    const { message, delivery } = await inbox.next();
    delivery.accept();
    assert.equal(message.body, 'blue');
    await shut(inbox.receiver);
    assert.deepEqual(await bench.takeAll(), ['red', 'red']);
  },

  async selector_filter_by_its_symbol(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue);
    await accepted(sender, { body: 'a', subject: 'one' }, { body: 'b', subject: 'two' });
    const filter = { 'jms-selector': rhea.types.wrap_described("JMSType = 'two'", 'apache.org:selector-filter:string') };
    const inbox = await bench.receiver(connection, bench.queue, { source: { filter } });
    inbox.receiver.add_credit(5);
    assert.equal((await inbox.next()).message.body, 'b');
    await shut(inbox.receiver);
    await bench.takeAll();
  },

  async selector_invalid_is_refused(bench) {
    const connection = await bench.connect();
    const filter = rhea.filter.selector('colour = = 1');
    const error = await refused(
      connection.open_receiver({ source: { address: bench.queue, capabilities: ['queue'], filter }, credit_window: 0 }),
    );
    assert.equal(error.condition, 'amqp:invalid-field');
  },

  unknown_filter_is_not_echoed: [
    async (bench) => {
      const connection = await bench.connect();
      await accepted(await bench.sender(connection, bench.queue), 'a');
      const filter = { unheard: rhea.types.wrap_described('of', 'example.org:unheard:string') };
      const inbox = await bench.receiver(connection, bench.queue, { source: { filter } });
      assert.equal(inbox.receiver.source.filter?.unheard, undefined);
      inbox.receiver.add_credit(1);
      (await inbox.next()).delivery.accept();
    },
    'administered',
  ],

  async browsing_takes_nothing(bench) {
    const connection = await bench.connect();
    await accepted(await bench.sender(connection, bench.queue), ...series('m', 5));
    const source = { distribution_mode: 'copy' };
    for (let look = 0; look < 2; look++) {
      const inbox = await bench.receiver(connection, bench.queue, { source });
      assert.equal(inbox.receiver.source.distribution_mode, 'copy');
      inbox.receiver.add_credit(10);
      for (const expected of series('m', 5)) {
        const { message, delivery } = await inbox.next();
        assert.equal(message.body, expected);
        delivery.accept();
      }
      await shut(inbox.receiver);
    }
    assert.deepEqual(await bench.takeAll(), series('m', 5));
  },

  async same_link_name_both_ways(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue, { name: 'one name' });
    const inbox = await bench.receiver(connection, bench.queue, { name: 'one name' });
    inbox.receiver.add_credit(1);
    await accepted(sender, 'a');
    assert.equal((await inbox.next()).message.body, 'a');
  },

  async link_name_again_after_the_close(bench) {
    const connection = await bench.connect();
    for (let round = 0; round < 20; round++) {
      const sender = await bench.sender(connection, bench.queue, { name: 'again' });
      await accepted(sender, `m${round}`);
      await shut(sender);
    }
    assert.deepEqual(await bench.takeAll(), series('m', 20));
  },

  delay_annotations: [
    async (bench) => {
      const connection = await bench.connect();
      const sender = await bench.sender(connection, bench.queue);
      const inbox = await bench.receiver(connection, bench.queue);
      inbox.receiver.add_credit(10);
      const before = Date.now();
      await accepted(
        sender,
        { body: 'slow', message_annotations: { 'x-opt-delivery-time': rhea.types.wrap_long(before + 900) } },
        { body: 'fast', message_annotations: { 'x-opt-delivery-delay': rhea.types.wrap_long(400) } },
        { body: 'now' },
      );
      for (const [expected, delay] of [['now', 0], ['fast', 400], ['slow', 900]]) {
        const { message, delivery } = await inbox.next();
        delivery.accept();
        assert.equal(message.body, expected);
        assert.ok(Date.now() - before >= delay - 1, `${expected} came after ${Date.now() - before} ms`);
      }
    },
  ],
};
