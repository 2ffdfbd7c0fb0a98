package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	amqp "github.com/Azure/go-amqp"
)

// one is a queue with one message, which was received and not settled.
func one(b *bench) (*amqp.Session, *amqp.Receiver, *amqp.Message) {
	session := b.session()
	b.send(b.sender(session, b.queue()), "a")
	receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: 1})
	return session, receiver, b.next(receiver)
}

func counted(b *bench, receiver *amqp.Receiver, expected uint32) {
	message := b.next(receiver)
	count := uint32(0)
	if message.Header != nil {
		count = message.Header.DeliveryCount
	}
	equal("delivery-count", expected, count)
	must(receiver.AcceptMessage(b.soon(), message))
}

var receiving = []check{
	{name: "outcome_released", body: func(b *bench) {
		_, receiver, message := one(b)
		must(receiver.ReleaseMessage(b.soon(), message))
		counted(b, receiver, 0)
	}},
	{name: "outcome_modified", body: func(b *bench) {
		_, receiver, message := one(b)
		must(receiver.ModifyMessage(b.soon(), message, &amqp.ModifyMessageOptions{DeliveryFailed: true}))
		message = b.next(receiver)
		must(receiver.ModifyMessage(b.soon(), message, &amqp.ModifyMessageOptions{}))
		counted(b, receiver, 1)
	}},
	{name: "outcome_modified_undeliverable_here", needs: []string{"leaves-a-link-out"}, body: func(b *bench) {
		session, receiver, message := one(b)
		elsewhere := &amqp.ModifyMessageOptions{DeliveryFailed: true, UndeliverableHere: true}
		must(receiver.ModifyMessage(b.soon(), message, elsewhere))
		b.nothing(receiver)
		counted(b, b.receiver(session, b.queue()), 1)
	}},
	{name: "outcome_rejected", body: func(b *bench) {
		_, receiver, message := one(b)
		why := &amqp.Error{Condition: "amqp:not-implemented", Description: "on purpose", Info: map[string]any{"n": 1}}
		must(receiver.RejectMessage(b.soon(), message, why))
		b.nothing(receiver)
	}},
	{name: "outcome_none_before_the_close", body: func(b *bench) {
		session, receiver, _ := one(b)
		must(receiver.Close(b.soon()))
		b.expect(b.receiver(session, b.queue()), "a")
	}},
	{name: "outcome_none_before_the_end_of_the_connection", body: func(b *bench) {
		connection := b.connect()
		session := b.sessionOf(connection)
		b.send(b.sender(session, b.queue()), "a")
		b.next(b.receiver(session, b.queue()))
		must(connection.Close())
		b.left("a")
	}},
	{name: "receive_settled", body: func(b *bench) {
		connection := b.connect()
		session := b.sessionOf(connection)
		b.send(b.sender(session, b.queue()), "a", "b")
		settled := amqp.ReceiverOptions{RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr(), Credit: -1}
		receiver := b.receiver(session, b.queue(), settled)
		must(receiver.IssueCredit(1))
		equal[any]("text", "a", b.next(receiver).Value)
		must(connection.Close())
		b.left("b")
	}},
	{name: "receive_and_settle_second", needs: []string{"settles-second"}, body: func(b *bench) {
		session := b.session()
		b.send(b.sender(session, b.queue()), series("m", 5)...)
		second := amqp.ReceiverOptions{SettlementMode: amqp.ReceiverSettleModeSecond.Ptr()}
		b.expect(b.receiver(session, b.queue(), second), series("m", 5)...)
		b.left()
	}},
	{name: "credit_by_hand", body: func(b *bench) {
		session := b.session()
		b.send(b.sender(session, b.queue()), series("m", 10)...)
		receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: -1})
		b.nothing(receiver)
		must(receiver.IssueCredit(3))
		b.expect(receiver, "m0", "m1", "m2")
		b.nothing(receiver)
		must(receiver.IssueCredit(7))
		b.expect(receiver, series("m", 10)[3:]...)
	}},
	{name: "credit_drained", needs: []string{"answers-every-drain"}, body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		b.send(sender, "a")
		receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: -1})
		for range 3 {
			must(receiver.IssueCredit(10))
			b.expect(receiver, "a")
			must(receiver.DrainCredit(b.soon(), nil))
			b.send(sender, "a")
			b.nothing(receiver)
		}
	}},
	{name: "dynamic_reply_address", body: func(b *bench) {
		client, service := b.session(), b.session()
		replies := b.receiver(client, "", amqp.ReceiverOptions{
			DynamicAddress: true, SourceCapabilities: []string{"temporary-queue"},
		})
		equal("an address", true, replies.Address() != "")
		requests := b.receiver(service, b.queue())
		address := replies.Address()
		request := &amqp.Message{Value: "request", Properties: &amqp.MessageProperties{ReplyTo: &address, MessageID: "1"}}
		must(b.sender(client, b.queue()).Send(b.soon(), request, nil))
		asked := b.next(requests)
		must(requests.AcceptMessage(b.soon(), asked))
		answering := got(service.NewSender(b.soon(), *asked.Properties.ReplyTo, nil))
		b.send(answering, "reply")
		b.expect(replies, "reply")
	}},
	{name: "selector_by_its_descriptor", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		for _, colour := range []string{"red", "blue", "red"} {
			message := &amqp.Message{Value: colour, ApplicationProperties: map[string]any{"colour": colour}}
			must(sender.Send(b.soon(), message, nil))
		}
		filters := []amqp.LinkFilter{amqp.NewSelectorFilter("colour = 'blue'")}
		receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Filters: filters})
		equal[any]("echoed", "colour = 'blue'", receiver.LinkSourceFilterValue("apache.org:selector-filter:string"))
		b.expect(receiver, "blue")
		b.nothing(receiver)
		must(receiver.Close(b.soon()))
		b.left("red", "red")
	}},
	{name: "selector_invalid", body: func(b *bench) {
		filters := []amqp.LinkFilter{amqp.NewSelectorFilter("colour = = 'blue'")}
		_, err := b.attach(b.session(), b.queue(), amqp.ReceiverOptions{Filters: filters})
		equal("condition", amqp.ErrCondInvalidField, condition(err).Condition)
	}},
	{name: "receive_from_many_links_of_a_session", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		var texts []string
		for number := range 50 {
			b.send(sender, fmt.Sprint("m", number))
			receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: 1})
			message := b.next(receiver)
			texts = append(texts, message.Value.(string))
			must(receiver.AcceptMessage(b.soon(), message))
			must(receiver.Close(b.soon()))
		}
		equal("all", strings.Join(series("m", 50), " "), strings.Join(texts, " "))
	}},
	{name: "delay_annotation", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		begun := time.Now()
		for name, delay := range map[string]int64{"slow": 900, "fast": 400} {
			due := amqp.Annotations{"x-opt-delivery-time": begun.UnixMilli() + delay}
			must(sender.Send(b.soon(), &amqp.Message{Value: name, Annotations: due}, nil))
		}
		receiver := b.receiver(session, b.queue())
		for _, expected := range []string{"fast", "slow"} {
			b.expect(receiver, expected)
		}
		equal("it came after its delay", true, time.Since(begun) >= 899*time.Millisecond)
	}},
	{name: "priorities_order", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		for _, priority := range []uint8{4, 0, 9, 7} {
			header := &amqp.MessageHeader{Priority: priority, Durable: true}
			must(sender.Send(b.soon(), &amqp.Message{Value: fmt.Sprint("p", priority), Header: header}, nil))
		}
		b.left("p9", "p7", "p4", "p0")
	}},
	{name: "all_that_two_receivers_get", body: func(b *bench) {
		session := b.session()
		b.send(b.sender(session, b.queue()), series("m", 20)...)
		one := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: -1})
		two := b.receiver(b.session(), b.queue(), amqp.ReceiverOptions{Credit: -1})
		var texts []string
		for _, receiver := range []*amqp.Receiver{one, two} {
			must(receiver.IssueCredit(10))
			for range 10 {
				message := b.next(receiver)
				texts = append(texts, message.Value.(string))
				must(receiver.AcceptMessage(b.soon(), message))
			}
		}
		slices.Sort(texts)
		expected := series("m", 20)
		slices.Sort(expected)
		equal("each once", strings.Join(expected, " "), strings.Join(texts, " "))
	}},
}
