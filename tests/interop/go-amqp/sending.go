package main

import (
	"context"
	"strings"
	"sync"
	"time"

	amqp "github.com/Azure/go-amqp"
)

var sending = []check{
	{name: "send_and_receive", body: func(b *bench) {
		session := b.session()
		b.send(b.sender(session, b.queue()), "a", "b")
		b.expect(b.receiver(session, b.queue()), "a", "b")
		b.left()
	}},
	{name: "send_settled", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue(), amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeSettled.Ptr()})
		b.send(sender, series("m", 20)...)
		must(sender.Close(b.soon()))
		b.left(series("m", 20)...)
	}},
	{name: "send_mixed", body: func(b *bench) {
		sender := b.sender(b.session(), b.queue(), amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeMixed.Ptr()})
		for number, text := range series("m", 10) {
			must(sender.Send(b.soon(), &amqp.Message{Value: text}, &amqp.SendOptions{Settled: number%2 == 0}))
		}
		b.left(series("m", 10)...)
	}},
	{name: "send_side_by_side", body: func(b *bench) {
		connection := b.connect()
		var senders sync.WaitGroup
		failed := make(chan error, 400)
		for range 4 {
			sender := b.sender(b.sessionOf(connection), b.queue())
			senders.Go(func() {
				for _, text := range series("m", 100) {
					if err := sender.Send(b.ctx, &amqp.Message{Value: text}, nil); err != nil {
						failed <- err
					}
				}
			})
		}
		senders.Wait()
		equal("failures", 0, len(failed))
		equal("messages", 400, len(b.takeAll(400)))
	}},
	{name: "send_with_receipts", body: func(b *bench) {
		sender := b.sender(b.session(), b.queue())
		var receipts []amqp.SendReceipt
		for _, text := range series("m", 200) {
			receipts = append(receipts, got(sender.SendWithReceipt(b.soon(), &amqp.Message{Value: text}, nil)))
		}
		for _, receipt := range receipts {
			if _, accepted := got(receipt.Wait(b.soon())).(*amqp.StateAccepted); !accepted {
				fail("a message was not accepted")
			}
		}
		b.left(series("m", 200)...)
	}},
	{name: "send_small_frames", body: func(b *bench) {
		connection := got(b.dial(&amqp.ConnOptions{MaxFrameSize: 512}))
		session := b.sessionOf(connection)
		large := strings.Repeat("x", 100_000)
		b.send(b.sender(session, b.queue()), large, "short", large)
		b.expect(b.receiver(session, b.queue()), large, "short", large)
	}},
	{name: "large_body", body: func(b *bench) {
		session := b.session()
		octets := make([]byte, 20_000_000)
		for at := range octets {
			octets[at] = byte(at * at >> 7)
		}
		must(b.sender(session, b.queue()).Send(b.ctx, amqp.NewMessage(octets), nil))
		receiver := b.receiver(session, b.queue(), amqp.ReceiverOptions{Credit: 1})
		message := got(receiver.Receive(b.ctx, nil))
		equal("octets", true, string(octets) == string(message.GetData()))
		must(receiver.AcceptMessage(b.soon(), message))
	}},
	{name: "send_to_an_anonymous_terminus", body: func(b *bench) {
		session := b.session()
		b.sender(session, b.queue())
		sender := b.sender(session, "")
		to := b.queue()
		message := &amqp.Message{Value: "a", Properties: &amqp.MessageProperties{To: &to}}
		must(sender.Send(b.soon(), message, nil))
		b.left("a")
	}},
	{name: "send_refused_tells_why", needs: []string{"administered"}, body: func(b *bench) {
		sender := b.sender(b.session(), "go.takes.one")
		b.send(sender, "first")
		said := condition(sender.Send(b.soon(), &amqp.Message{Value: "second"}, nil))
		equal("condition", amqp.ErrCondResourceLimitExceeded, said.Condition)
		equal("2053 in the description", true, strings.Contains(said.Description, "2053"))
		b.expect(b.receiver(b.session(), "go.takes.one"), "first")
		b.send(sender, "third")
	}},
	{name: "send_to_an_unknown_queue", needs: []string{"administered"}, body: func(b *bench) {
		session := b.session()
		_, err := session.NewSender(b.soon(), "go.never.defined", nil)
		equal("condition", amqp.ErrCondNotFound, condition(err).Condition)
		_, err = b.attach(session, "go.never.defined")
		equal("condition", amqp.ErrCondNotFound, condition(err).Condition)
		b.send(b.sender(session, b.queue()), "the session goes on")
		b.left("the session goes on")
	}},
	{name: "send_without_a_capability", body: func(b *bench) {
		session := b.session()
		b.receiver(session, b.queue()) // so that everybody knows it for a queue
		sender := got(session.NewSender(b.soon(), b.queue(), nil))
		b.send(sender, "a")
	}},
	{name: "send_expires", body: func(b *bench) {
		session := b.session()
		sender := b.sender(session, b.queue())
		mortal := &amqp.Message{Value: "dies", Header: &amqp.MessageHeader{TTL: 200 * time.Millisecond}}
		must(sender.Send(b.soon(), mortal, nil))
		b.send(sender, "lives")
		time.Sleep(500 * time.Millisecond)
		b.left("lives")
	}},
	{name: "send_cancelled_wait", body: func(b *bench) {
		session := b.session()
		receiver := b.receiver(session, b.queue())
		ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
		defer cancel()
		if _, err := receiver.Receive(ctx, nil); err == nil {
			fail("an empty queue had a message")
		}
		b.send(b.sender(session, b.queue()), "later")
		b.expect(receiver, "later")
	}},
}
