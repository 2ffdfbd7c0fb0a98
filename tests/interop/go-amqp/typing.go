package main

import (
	"math"
	"reflect"
	"time"

	amqp "github.com/Azure/go-amqp"
)

// values has one of each AMQP type that go-amqp tells from the others; a symbol comes back as a string.
var values = map[string]any{
	"null": nil, "true": true, "false": false,
	"ubyte": uint8(0), "ubyte-max": uint8(math.MaxUint8), "ushort": uint16(math.MaxUint16),
	"uint-0": uint32(0), "uint-small": uint32(255), "uint": uint32(math.MaxUint32),
	"ulong-0": uint64(0), "ulong-small": uint64(255), "ulong": uint64(math.MaxUint64),
	"byte": int8(math.MinInt8), "short": int16(math.MinInt16),
	"int-small": int32(-1), "int": int32(math.MinInt32),
	"long-small": int64(-1), "long": int64(math.MinInt64),
	"float": float32(math.Pi), "double": math.E, "infinity": math.Inf(-1),
	"timestamp": time.UnixMilli(1_700_000_000_123).UTC(), "before": time.UnixMilli(-1).UTC(),
	"uuid": amqp.UUID{1, 2, 3, 15: 255}, "binary": []byte{0, 255}, "string": "żółw \U0001f4e8",
	"empty": "",
}

var bodies = map[string]any{
	"list": []any{"one", int64(2), []any{true, nil}},
	"map":  map[string]any{"a": int64(1), "b": map[string]any{"c": "d"}},
	"keys": map[any]any{int64(1): "one", "two": int64(2), "three": nil},
}

func echo(b *bench, session *amqp.Session, message *amqp.Message) *amqp.Message {
	sender := b.sender(session, b.queue())
	must(sender.Send(b.soon(), message, nil))
	must(sender.Close(b.soon()))
	receiver := b.receiver(session, b.queue())
	back := b.next(receiver)
	must(receiver.AcceptMessage(b.soon(), back))
	must(receiver.Close(b.soon()))
	return back
}

func same(what string, expected, got any) {
	if moment, timed := got.(time.Time); timed {
		got = moment.UTC()
	}
	if !reflect.DeepEqual(expected, got) {
		fail("%s: expected %T %v, got %T %v", what, expected, expected, got, got)
	}
}

var typing = []check{
	{name: "types_in_bodies", body: func(b *bench) {
		session := b.session()
		for name, value := range values {
			if value != nil { // which go-amqp cannot tell from no body
				same(name, value, echo(b, session, &amqp.Message{Value: value}).Value)
			}
		}
	}},
	{name: "types_of_several_values_in_bodies", body: func(b *bench) {
		session := b.session()
		for name, value := range bodies {
			same(name, value, echo(b, session, &amqp.Message{Value: value}).Value)
		}
	}},
	{name: "types_of_arrays_in_bodies", body: func(b *bench) {
		session := b.session()
		for name, value := range map[string]any{
			"int": []int32{1, -1, 70_000}, "ubyte": []int8{1, -1}, "string": []string{"a", ""},
			"bool": []bool{true, false}, "double": []float64{1.5}, "symbol": []amqp.Symbol{"a", "b"},
			"uuid": []amqp.UUID{{1}, {2}}, "timestamp": []time.Time{time.UnixMilli(5).UTC()},
		} {
			back := echo(b, session, &amqp.Message{Value: value}).Value
			if times, timed := back.([]time.Time); timed {
				for at := range times {
					times[at] = times[at].UTC()
				}
			}
			same(name, value, back)
		}
	}},
	{name: "types_in_application_properties", body: func(b *bench) {
		session := b.session()
		back := echo(b, session, &amqp.Message{Value: "a", ApplicationProperties: values})
		equal("how many", len(values), len(back.ApplicationProperties))
		for name, value := range values {
			same(name, value, back.ApplicationProperties[name])
		}
	}},
	{name: "types_in_annotations_and_footer", body: func(b *bench) {
		annotations := amqp.Annotations{}
		for name, value := range values {
			annotations["x-opt-"+name] = value
		}
		message := &amqp.Message{Value: "a", Annotations: annotations, Footer: amqp.Annotations{"x-opt-sum": int64(5)}}
		message.DeliveryAnnotations = amqp.Annotations{"x-opt-hop": "one"}
		back := echo(b, b.session(), message)
		for name, value := range values {
			same(name, value, back.Annotations["x-opt-"+name])
		}
		same("footer", int64(5), back.Footer["x-opt-sum"])
		same("delivery annotation", nil, back.DeliveryAnnotations["x-opt-hop"])
	}},
	{name: "types_of_message_ids", body: func(b *bench) {
		session := b.session()
		for _, id := range []any{"string", uint64(math.MaxUint64), amqp.UUID{9, 15: 9}, []byte{0, 1}} {
			properties := &amqp.MessageProperties{MessageID: id, CorrelationID: id}
			back := echo(b, session, &amqp.Message{Value: "a", Properties: properties}).Properties
			same("message-id", id, back.MessageID)
			same("correlation-id", id, back.CorrelationID)
		}
	}},
	{name: "properties_all", body: func(b *bench) {
		properties := &amqp.MessageProperties{
			MessageID: "id", UserID: []byte("user"), To: pointer("to"), Subject: pointer("subject"),
			ReplyTo: pointer("reply"), CorrelationID: "correlation", ContentType: pointer("text/plain"),
			ContentEncoding: pointer("identity"), CreationTime: pointer(time.UnixMilli(1_700_000_000_000).UTC()),
			AbsoluteExpiryTime: pointer(time.UnixMilli(4_000_000_000_000).UTC()), GroupID: pointer("group"),
			GroupSequence: pointer(uint32(math.MaxUint32)), ReplyToGroupID: pointer("other"),
		}
		back := echo(b, b.session(), &amqp.Message{Value: "a", Properties: properties}).Properties
		*back.CreationTime, *back.AbsoluteExpiryTime = back.CreationTime.UTC(), back.AbsoluteExpiryTime.UTC()
		same("properties", *properties, *back)
	}},
	{name: "sections_of_data", body: func(b *bench) {
		data := [][]byte{[]byte("one"), {}, []byte("three")}
		same("data", data, echo(b, b.session(), &amqp.Message{Data: data}).Data)
	}},
	{name: "sections_of_a_sequence", body: func(b *bench) {
		sequence := [][]any{{"one", int64(2)}, {nil}, {[]any{"three"}}}
		same("sequence", sequence, echo(b, b.session(), &amqp.Message{Sequence: sequence}).Sequence)
	}},
}
