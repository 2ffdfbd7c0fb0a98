package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"time"

	amqp "github.com/Azure/go-amqp"
)

func works(b *bench, connection *amqp.Conn) {
	session := b.sessionOf(connection)
	b.send(b.sender(session, b.queue()), "a")
	b.expect(b.receiver(session, b.queue()), "a")
	must(connection.Close())
}

func refused(b *bench, options *amqp.ConnOptions) {
	if connection, err := b.dial(options); err == nil {
		_, err = connection.NewSession(b.soon(), nil)
		if err == nil {
			fail("it was let in")
		}
	}
}

var connecting = []check{
	{name: "connection_properties", body: func(b *bench) {
		connection := got(b.dial(&amqp.ConnOptions{Properties: map[string]any{"product": "checks", "n": int64(1)}}))
		if connection.Properties()["product"] == nil {
			fail("the server says no product: %v", connection.Properties())
		}
		works(b, connection)
	}},
	{name: "connection_idle_is_kept", body: func(b *bench) {
		connection := got(b.dial(&amqp.ConnOptions{IdleTimeout: 1500 * time.Millisecond}))
		time.Sleep(5 * time.Second) // several times the idle timeout: real time is what is tried
		works(b, connection)
	}},
	{name: "connection_many_sessions", body: func(b *bench) {
		connection := b.connect()
		var sessions []*amqp.Session
		for range 10 {
			session := b.sessionOf(connection)
			b.send(b.sender(session, b.queue()), "m")
			sessions = append(sessions, session)
		}
		for _, session := range sessions {
			must(session.Close(b.soon()))
		}
		equal("messages", 10, len(b.takeAll(10)))
	}},
	{name: "login_anonymous", needs: []string{"anonymous"}, body: func(b *bench) {
		works(b, got(b.dial(&amqp.ConnOptions{SASLType: amqp.SASLTypeAnonymous()})))
		works(b, b.connect())
	}},
	{name: "login_anonymous_is_refused", needs: []string{"users"}, body: func(b *bench) {
		refused(b, &amqp.ConnOptions{SASLType: amqp.SASLTypeAnonymous()})
		works(b, b.connect())
	}},
	{name: "login_wrong_password", needs: []string{"users"}, body: func(b *bench) {
		refused(b, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain(b.options["user"], "wrong")})
		refused(b, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("nobody of that name", "wrong")})
		works(b, b.connect())
	}},
	{name: "tls", needs: []string{"tls"}, body: func(b *bench) {
		authorities := x509.NewCertPool()
		authorities.AppendCertsFromPEM(got(os.ReadFile(b.options["ca"])))
		works(b, got(b.dial(&amqp.ConnOptions{TLSConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}})))
		refused(b, &amqp.ConnOptions{TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}})
	}},
}
