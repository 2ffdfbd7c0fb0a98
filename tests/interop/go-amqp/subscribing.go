package main

import (
	"slices"
	"strings"

	amqp "github.com/Azure/go-amqp"
)

// lasting is a durable subscription by the link's name.
func lasting(capabilities ...string) amqp.ReceiverOptions {
	return amqp.ReceiverOptions{
		Name: "sub", SourceCapabilities: append([]string{"topic"}, capabilities...),
		SourceDurability: amqp.DurabilityUnsettledState, SourceExpiryPolicy: amqp.ExpiryPolicyNever,
	}
}

var subscribing = []check{
	{name: "topic_copies_to_each", body: func(b *bench) {
		one, two := b.session(), b.session()
		first, second := b.receiver(one, b.topic()), b.receiver(two, b.topic())
		b.send(b.sender(one, b.topic()), "a", "b")
		b.expect(first, "a", "b")
		b.expect(second, "a", "b")
	}},
	{name: "durable_is_attached_again_by_its_name", body: func(b *bench) {
		connection := b.connectAs("go.durable")
		b.receiver(b.sessionOf(connection), b.topic(), lasting())
		must(connection.Close())
		publisher := b.sender(b.session(), b.topic())
		b.send(publisher, "a", "b")
		connection = b.connectAs("go.durable")
		receiver := b.receiver(b.sessionOf(connection), b.topic(), lasting())
		b.expect(receiver, "a")
		must(connection.Close())
		receiver = b.receiver(b.sessionOf(b.connectAs("go.durable")), b.topic(), lasting())
		b.expect(receiver, "b")
		must(receiver.Close(b.soon()))
	}},
	{name: "durable_ends_with_the_close_of_its_link", body: func(b *bench) {
		session := b.sessionOf(b.connectAs("go.closed"))
		must(b.receiver(session, b.topic(), lasting()).Close(b.soon()))
		b.send(b.sender(session, b.topic()), "missed")
		receiver := b.receiver(session, b.topic(), lasting())
		b.nothing(receiver)
		must(receiver.Close(b.soon()))
	}},
	{name: "shared_subscription_is_split", body: func(b *bench) {
		session := b.sessionOf(b.connectAs("go.shared"))
		var receivers []*amqp.Receiver
		for _, name := range []string{"sub|volatile1", "sub|volatile2"} {
			options := amqp.ReceiverOptions{Name: name, SourceCapabilities: []string{"topic", "shared"}, Credit: -1}
			receivers = append(receivers, b.receiver(session, b.topic(), options))
		}
		b.send(b.sender(session, b.topic()), series("m", 10)...)
		var texts []string
		for _, receiver := range receivers {
			must(receiver.IssueCredit(5))
			for range 5 {
				message := b.next(receiver)
				texts = append(texts, message.Value.(string))
				must(receiver.AcceptMessage(b.soon(), message))
			}
		}
		slices.Sort(texts)
		equal("each once", strings.Join(series("m", 10), " "), strings.Join(texts, " "))
	}},
	{name: "durable_refuses_an_invalid_selector", body: func(b *bench) {
		options := lasting()
		options.Filters = []amqp.LinkFilter{amqp.NewSelectorFilter("= =")}
		_, err := b.attach(b.sessionOf(b.connectAs("go.invalid")), b.topic(), options)
		equal("condition", amqp.ErrCondInvalidField, condition(err).Condition)
	}},
}
