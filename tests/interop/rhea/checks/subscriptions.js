'use strict';
// Topics, and subscriptions that are known by a link's name.

const { accepted, assert, event, rhea, series, shut } = require('../bench.js');

const DURABLE = { durable: 2, expiry_policy: 'never' };

async function publisher(bench, connection) {
  return bench.sender(connection, bench.topic, { target: { capabilities: ['topic'] } });
}

async function detached(inbox) {
  const done = event(inbox.receiver, 'receiver_close');
  inbox.receiver.detach();
  await done;
}

async function taken(inbox, count) {
  inbox.receiver.add_credit(count);
  const bodies = [];
  while (bodies.length < count) {
    const { message, delivery } = await inbox.next();
    delivery.accept();
    bodies.push(message.body);
  }
  return bodies;
}

async function nothing(inbox) {
  inbox.receiver.add_credit(1);
  await inbox.drained();
  assert.equal(inbox.size, 0, 'there is a message');
}

module.exports = {
  async topic_copies_to_each(bench) {
    const connection = await bench.connect();
    const one = await bench.subscriber(connection);
    const two = await bench.subscriber(await bench.connect());
    await accepted(await publisher(bench, connection), 'a', 'b');
    assert.deepEqual(await taken(one, 2), ['a', 'b']);
    assert.deepEqual(await taken(two, 2), ['a', 'b']);
  },

  async durable_is_attached_again_by_its_name(bench) {
    const connection = await bench.connect({ container_id: 'rhea.durable' });
    const first = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    const sender = await publisher(bench, connection);
    await accepted(sender, 'a');
    assert.deepEqual(await taken(first, 1), ['a']);
    await detached(first);
    await accepted(sender, 'b');
    const second = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    assert.deepEqual(await taken(second, 1), ['b']);
    await shut(second.receiver);
  },

  async durable_outlives_its_connection(bench) {
    const connection = await bench.connect({ container_id: 'rhea.outlives' });
    await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    await shut(connection);
    const other = await bench.connect();
    await accepted(await publisher(bench, other), 'kept');
    const again = await bench.connect({ container_id: 'rhea.outlives' });
    const inbox = await bench.subscriber(again, { name: 'sub', source: DURABLE });
    assert.deepEqual(await taken(inbox, 1), ['kept']);
    await shut(inbox.receiver);
  },

  async durable_outlives_a_broken_line_with_its_unsettled(bench) {
    const connection = await bench.connect({ container_id: 'rhea.broken' });
    const inbox = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    await accepted(await publisher(bench, connection), 'a');
    inbox.receiver.add_credit(1);
    await inbox.next();
    bench.cut(connection);
    const again = await bench.connect({ container_id: 'rhea.broken' });
    const next = await bench.subscriber(again, { name: 'sub', source: DURABLE });
    assert.deepEqual(await taken(next, 1), ['a']);
    await shut(next.receiver);
  },

  async durable_closed_is_unsubscribed(bench) {
    const connection = await bench.connect({ container_id: 'rhea.closed' });
    const first = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    await shut(first.receiver);
    await accepted(await publisher(bench, connection), 'missed');
    const second = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    await nothing(second);
    await shut(second.receiver);
  },

  async durable_looked_up_by_a_null_source(bench) {
    const connection = await bench.connect({ container_id: 'rhea.lookup' });
    const first = await bench.subscriber(connection, { name: 'sub', source: DURABLE });
    await detached(first);
    const lookup = connection.open_receiver({ name: 'sub', credit_window: 0 });
    await event(lookup, 'receiver_open');
    assert.ok(lookup.source?.address, 'the source has no address');
    assert.equal(lookup.source.durable, 2);
    await shut(lookup);
    const missing = connection.open_receiver({ name: 'sub', credit_window: 0 });
    const { receiver } = await event(missing, 'receiver_error');
    assert.equal(receiver.error.condition, 'amqp:not-found');
  },

  async durable_reopened_with_another_selector_starts_anew(bench) {
    const connection = await bench.connect({ container_id: 'rhea.selector' });
    const red = { ...DURABLE, filter: rhea.filter.selector("colour = 'red'") };
    const blue = { ...DURABLE, filter: rhea.filter.selector("colour = 'blue'") };
    const sender = await publisher(bench, connection);
    const coloured = (colour) => ({ body: colour, application_properties: { colour } });
    await detached(await bench.subscriber(connection, { name: 'sub', source: red }));
    await accepted(sender, coloured('red'), coloured('blue'));
    const inbox = await bench.subscriber(connection, { name: 'sub', source: blue });
    await nothing(inbox);
    await accepted(sender, coloured('red'), coloured('blue'));
    assert.deepEqual(await taken(inbox, 1), ['blue']);
    await nothing(inbox);
    await shut(inbox.receiver);
  },

  async shared_subscription_is_split(bench) {
    const connection = await bench.connect({ container_id: 'rhea.shared' });
    assert.ok(connection.remote.open.offered_capabilities.map(String).includes('SHARED-SUBS'));
    const source = { capabilities: ['topic', 'shared'] };
    const one = await bench.subscriber(connection, { name: 'sub|volatile1', source });
    const two = await bench.subscriber(connection, { name: 'sub|volatile2', source });
    await accepted(await publisher(bench, connection), ...series('m', 10));
    const bodies = [...(await taken(one, 5)), ...(await taken(two, 5))];
    assert.deepEqual(bodies.sort(), series('m', 10));
  },

  async shared_durable_of_all_clients(bench) {
    const source = { ...DURABLE, capabilities: ['topic', 'shared', 'global'] };
    const one = await bench.connect();
    const first = await bench.subscriber(one, { name: 'rhea.sub|global', source });
    const two = await bench.connect();
    const second = await bench.subscriber(two, { name: 'rhea.sub|global', source });
    const sender = await publisher(bench, one);
    await accepted(sender, ...series('m', 10));
    const bodies = [...(await taken(first, 5)), ...(await taken(second, 5))];
    assert.deepEqual(bodies.sort(), series('m', 10));
    await detached(first);
    await detached(second);
    await accepted(sender, 'kept');
    const third = await bench.subscriber(two, { name: 'rhea.sub|global', source });
    assert.deepEqual(await taken(third, 1), ['kept']);
    await shut(third.receiver);
  },

  async no_local_filter(bench) {
    const connection = await bench.connect();
    const filter = { 'no-local': rhea.types.wrap_described([], 0x468c00000003) };
    const inbox = await bench.subscriber(connection, { source: { filter } });
    await accepted(await publisher(bench, connection), 'mine');
    await accepted(await publisher(bench, await bench.connect()), 'theirs');
    assert.deepEqual(await taken(inbox, 1), ['theirs']);
    await nothing(inbox);
  },
};
