package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	amqp "github.com/Azure/go-amqp"
)

const soon = 10 * time.Second

// bench is where one check works: its server, its destinations, and the connections that it has opened.
type bench struct {
	ctx     context.Context
	name    string
	options map[string]string
	opened  []*amqp.Conn
}

func (b *bench) queue() string { return "go." + b.name }
func (b *bench) topic() string { return "go/topic/" + b.name }

// soon is the time that an answer may take.
func (b *bench) soon() context.Context {
	ctx, cancel := context.WithTimeout(b.ctx, soon)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func (b *bench) end() {
	for _, connection := range b.opened {
		_ = connection.Close() // a check may have closed it, or have seen it fail
	}
}

// dial opens a connection as the user that the options name.
func (b *bench) dial(options *amqp.ConnOptions) (*amqp.Conn, error) {
	if options == nil {
		options = &amqp.ConnOptions{}
	}
	if options.SASLType == nil && b.options["user"] != "" {
		options.SASLType = amqp.SASLTypePlain(b.options["user"], b.options["password"])
	}
	url := b.options["url"]
	if options.TLSConfig != nil {
		url = b.options["tls-url"]
	}
	connection, err := amqp.Dial(b.soon(), url, options)
	if err == nil {
		b.opened = append(b.opened, connection)
	}
	return connection, err
}

func (b *bench) connect() *amqp.Conn { return got(b.dial(nil)) }

func (b *bench) connectAs(id string) *amqp.Conn {
	return got(b.dial(&amqp.ConnOptions{ContainerID: id}))
}

func (b *bench) session() *amqp.Session { return b.sessionOf(b.connect()) }

func (b *bench) sessionOf(connection *amqp.Conn) *amqp.Session {
	return got(connection.NewSession(b.soon(), nil))
}

func (b *bench) sender(session *amqp.Session, address string, options ...amqp.SenderOptions) *amqp.Sender {
	chosen := amqp.SenderOptions{}
	if len(options) > 0 {
		chosen = options[0]
	}
	if chosen.TargetCapabilities == nil && address != "" {
		chosen.TargetCapabilities = []string{kind(address)}
	}
	return got(session.NewSender(b.soon(), address, &chosen))
}

func (b *bench) receiver(session *amqp.Session, address string, options ...amqp.ReceiverOptions) *amqp.Receiver {
	return got(b.attach(session, address, options...))
}

func (b *bench) attach(
	session *amqp.Session, address string, options ...amqp.ReceiverOptions,
) (*amqp.Receiver, error) {
	chosen := amqp.ReceiverOptions{}
	if len(options) > 0 {
		chosen = options[0]
	}
	if chosen.SourceCapabilities == nil && address != "" {
		chosen.SourceCapabilities = []string{kind(address)}
	}
	return session.NewReceiver(b.soon(), address, &chosen)
}

func kind(address string) string {
	if strings.Contains(address, "/") {
		return "topic"
	}
	return "queue"
}

func (b *bench) send(sender *amqp.Sender, texts ...string) {
	for _, text := range texts {
		must(sender.Send(b.soon(), &amqp.Message{Value: text}, nil))
	}
}

// next is the next message, which comes soon.
func (b *bench) next(receiver *amqp.Receiver) *amqp.Message {
	return got(receiver.Receive(b.soon(), nil))
}

// expect takes messages with these texts, in this order.
func (b *bench) expect(receiver *amqp.Receiver, texts ...string) {
	for _, text := range texts {
		message := b.next(receiver)
		equal[any]("text", text, message.Value)
		must(receiver.AcceptMessage(b.soon(), message))
	}
}

// nothing holds where no message comes for a while; real time is what is tried.
func (b *bench) nothing(receiver *amqp.Receiver) {
	ctx, cancel := context.WithTimeout(b.ctx, 200*time.Millisecond)
	defer cancel()
	if message, err := receiver.Receive(ctx, nil); err == nil {
		fail("there is a message: %v", message.Value)
	}
}

// takeAll takes what is in the queue, over a connection of its own; it waits long for the first messages, which must come.
func (b *bench) takeAll(least int) []string {
	connection := b.connect()
	receiver := b.receiver(b.sessionOf(connection), b.queue())
	texts := []string{}
	for {
		limit := 200 * time.Millisecond
		if len(texts) < least {
			limit = soon
		}
		ctx, cancel := context.WithTimeout(b.ctx, limit)
		message, err := receiver.Receive(ctx, nil)
		cancel()
		if err != nil {
			must(connection.Close())
			return texts
		}
		texts = append(texts, fmt.Sprint(message.Value))
		must(receiver.AcceptMessage(b.soon(), message))
	}
}

func (b *bench) left(expected ...string) {
	equal("queue", strings.Join(expected, " "), strings.Join(b.takeAll(len(expected)), " "))
}

func series(prefix string, count int) []string {
	texts := make([]string, count)
	for number := range texts {
		texts[number] = fmt.Sprint(prefix, number)
	}
	return texts
}

// condition is that of the error by which the other side has refused a link, or closed it.
func condition(err error) *amqp.Error {
	var link *amqp.LinkError
	var said *amqp.Error
	switch {
	case errors.As(err, &link) && link.RemoteErr != nil:
		return link.RemoteErr
	case errors.As(err, &said):
		return said
	}
	fail("no error of the other side's: %v", err)
	return nil
}

func pointer[T any](value T) *T { return &value }
