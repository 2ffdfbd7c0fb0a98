'use strict';
// Sections and types go through as they came.

const { accepted, assert, event, pause, rhea, shut } = require('../bench.js');

const { message: sections, types } = rhea;

async function echo(bench, message) {
  const connection = await bench.connect();
  await accepted(await bench.sender(connection, bench.queue), message);
  const inbox = await bench.receiver(connection, bench.queue);
  inbox.receiver.add_credit(1);
  const got = await inbox.next();
  got.delivery.accept();
  await shut(inbox.receiver);
  return got.message;
}

module.exports = {
  async body_of_each_type(bench) {
    const bodies = [
      'text', '', 'żółw \u{1f4e8}', 7, -1, 1.5, true, false, null, [1, 'two', [3]], { a: 1, b: { c: [true] } },
      Buffer.from([0, 255]), 2 ** 40,
    ];
    for (const body of bodies) assert.deepEqual((await echo(bench, { body })).body, body);
  },

  async body_of_data_sections(bench) {
    const one = await echo(bench, { body: sections.data_section(Buffer.from('octets')) });
    assert.equal(one.body.typecode, 0x75);
    assert.equal(one.body.content.toString(), 'octets');
    const parts = [Buffer.from('a'), Buffer.alloc(0), Buffer.from('c')];
    const several = await echo(bench, { body: sections.data_sections(parts) });
    assert.deepEqual(several.body.content, parts);
  },

  async body_of_sequence_sections(bench) {
    const one = await echo(bench, { body: sections.sequence_section([1, 'two']) });
    assert.equal(one.body.typecode, 0x76);
    assert.deepEqual(one.body.content, [1, 'two']);
    const several = await echo(bench, { body: sections.sequence_sections([[1], [2, 3]]) });
    assert.deepEqual(several.body.content, [[1], [2, 3]]);
  },

  async properties_all(bench) {
    const message = {
      message_id: 'id', user_id: Buffer.from('user'), to: 'elsewhere', subject: 'subject', reply_to: 'reply',
      correlation_id: 'correlation', content_type: 'text/plain', content_encoding: 'identity',
      creation_time: new Date(1_700_000_000_123), group_id: 'group', group_sequence: 7, reply_to_group_id: 'other',
      body: 'a',
    };
    const got = await echo(bench, message);
    for (const key of Object.keys(message)) assert.deepEqual(got[key], message[key], key);
  },

  async message_id_of_each_type(bench) {
    for (const id of ['string', 42, types.wrap_uuid(Buffer.from('0123456789abcdef')), types.wrap_binary(Buffer.from([1]))]) {
      const got = await echo(bench, { message_id: id, correlation_id: id, body: 'a' });
      assert.deepEqual(got.message_id, id.value ?? id);
      assert.deepEqual(got.correlation_id, id.value ?? id);
    }
  },

  async application_properties_of_each_type(bench) {
    const application_properties = {
      string: 'żółw', empty: '', yes: true, no: false, whole: 1, negative: -5, double: 0.1, none: null,
      octets: Buffer.from([1, 2]), time: new Date(1_700_000_000_000), long: types.wrap_long(2 ** 45),
      byte: types.wrap_byte(-7), ubyte: types.wrap_ubyte(200), short: types.wrap_short(-300),
      symbol: types.wrap_symbol('sym'), uuid: types.wrap_uuid(Buffer.from('0123456789abcdef')),
    };
    const got = (await echo(bench, { body: 'a', application_properties })).application_properties;
    assert.equal(Object.keys(got).length, Object.keys(application_properties).length);
    for (const [key, value] of Object.entries(application_properties)) {
      assert.deepEqual(Buffer.isBuffer(value) ? value : got[key]?.value ?? got[key], got[key] ?? null, key);
      assert.deepEqual(got[key], value?.type ? value.value : value, key);
    }
  },

  async message_annotations_go_through_and_delivery_annotations_do_not(bench) {
    const got = await echo(bench, {
      body: 'a',
      message_annotations: { 'x-opt-of-mine': 'kept', 'x-opt-number': 5 },
      delivery_annotations: { 'x-opt-hop': 'this hop only' },
    });
    assert.equal(got.message_annotations['x-opt-of-mine'], 'kept');
    assert.equal(got.message_annotations['x-opt-number'], 5);
    assert.equal(got.delivery_annotations?.['x-opt-hop'], undefined);
  },

  async header_durable_and_priority(bench) {
    for (const durable of [true, false]) {
      const got = await echo(bench, { body: 'a', durable, priority: 7 });
      assert.equal(got.durable, durable);
      assert.equal(got.priority, 7);
    }
  },

  async header_ttl_expires(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue);
    await accepted(sender, { body: 'dies', ttl: 200 }, { body: 'lives', ttl: 60_000 });
    await pause(500);
    assert.deepEqual(await bench.takeAll(), ['lives']);
  },

  async large_body(bench) {
    const body = Buffer.alloc(10_000_000);
    for (let at = 0; at < body.length; at += 4) body.writeUInt32BE(at, at);
    const got = await echo(bench, { body: sections.data_section(body) });
    assert.ok(body.equals(got.body.content));
  },

  async multi_frame_both_ways(bench) {
    const connection = await bench.connect({ max_frame_size: 512 });
    const body = 'x'.repeat(100_000);
    await accepted(await bench.sender(connection, bench.queue), body, 'short', body);
    const inbox = await bench.receiver(connection, bench.queue);
    inbox.receiver.add_credit(3);
    assert.deepEqual(await inbox.bodies(3), [body, 'short', body]);
    await shut(inbox.receiver);
    await bench.takeAll();
  },

  async two_links_multi_frame_at_once(bench) {
    const connection = await bench.connect({ max_frame_size: 1024 });
    const one = await bench.sender(connection, bench.queue);
    const two = await bench.sender(connection, bench.queue);
    const large = (letter) => letter.repeat(50_000);
    await Promise.all([accepted(one, large('a'), large('b')), accepted(two, large('c'), large('d'))]);
    const bodies = await bench.takeAll();
    assert.deepEqual(bodies.sort(), ['a', 'b', 'c', 'd'].map(large));
  },

  async batchable_message_format(bench) {
    const connection = await bench.connect();
    const sender = await bench.sender(connection, bench.queue);
    const raw = sections.encode({ body: 'encoded by the application' });
    const done = event(sender, 'accepted');
    sender.send(raw, undefined, 0);
    await done;
    assert.deepEqual(await bench.takeAll(), ['encoded by the application']);
  },
};
