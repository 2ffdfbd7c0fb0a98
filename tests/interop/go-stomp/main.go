// Command checks lets go-stomp judge a STOMP server.
//
// "list" prints the names of all checks; "run --url U [NAME...]" runs them, and prints one line of JSON for each.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

const limit = 10 * time.Second

var receiptLimit = stomp.ConnOpt.RcvReceiptTimeout(3 * time.Second)

var place = "127.0.0.1:61613"

type check struct {
	name string
	body func(to string) error
}

type line struct {
	Check  string  `json:"check"`
	OK     bool    `json:"ok"`
	Ms     float64 `json:"ms"`
	Detail string  `json:"detail"`
}

var checks = []check{
	{"version_1_0", func(to string) error { return round(to, stomp.V10) }},
	{"version_1_1", func(to string) error { return round(to, stomp.V11) }},
	{"version_1_2", func(to string) error { return round(to, stomp.V12) }},
	{"receipts", receipts},
	{"ack_client_is_cumulative", func(to string) error { return ackOne(to, stomp.AckClient, "2") }},
	{"ack_individual", func(to string) error { return ackOne(to, stomp.AckClientIndividual, "0", "2") }},
	{"nack_comes_again", nack},
	{"commit", commit},
	{"abort", abort},
	{"ack_in_a_transaction", ackInTransaction},
	{"headers_with_special_characters", specials},
	{"bodies", bodies},
	{"selector", selector},
	{"unsubscribe", unsubscribe},
	{"heart_beats", heartBeats},
	{"an_error_ends_the_connection", failing},
}

func connected(options ...func(*stomp.Conn) error) (*stomp.Conn, error) {
	return stomp.Dial("tcp", place, append([]func(*stomp.Conn) error{stomp.ConnOpt.HeartBeat(0, 0), receiptLimit}, options...)...)
}

func next(from *stomp.Subscription) (*stomp.Message, error) {
	select {
	case message := <-from.C:
		if message == nil {
			return nil, errors.New("the subscription ended")
		}
		return message, message.Err
	case <-time.After(limit):
		return nil, errors.New("no message came")
	}
}

func none(from *stomp.Subscription) error {
	select {
	case message := <-from.C:
		return fmt.Errorf("a message came: %v", message)
	case <-time.After(300 * time.Millisecond):
		return nil
	}
}

func equal(found, expected any) error {
	if fmt.Sprint(found) != fmt.Sprint(expected) {
		return fmt.Errorf("%v instead of %v", found, expected)
	}
	return nil
}

func round(to string, version stomp.Version) error {
	conn, err := connected(stomp.ConnOpt.AcceptVersion(version))
	if err != nil {
		return err
	}
	if err := equal(conn.Version(), version); err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return err
	}
	if err := conn.Send(to, "text/plain", []byte("hello"), stomp.SendOpt.Receipt); err != nil {
		return err
	}
	message, err := next(from)
	if err != nil {
		return err
	}
	return errors.Join(equal(string(message.Body), "hello"), conn.Disconnect())
}

func receipts(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	for range 20 {
		persistent := stomp.SendOpt.Header("persistent", "true")
		if err := conn.Send(to, "text/plain", []byte("x"), stomp.SendOpt.Receipt, persistent); err != nil {
			return err
		}
	}
	return conn.Disconnect()
}

func three(to string, mode stomp.AckMode) (*stomp.Conn, *stomp.Subscription, []*stomp.Message, error) {
	conn, err := connected()
	if err != nil {
		return nil, nil, nil, err
	}
	from, err := conn.Subscribe(to, mode)
	if err != nil {
		return nil, nil, nil, err
	}
	var messages []*stomp.Message
	for _, body := range []string{"0", "1", "2"} {
		if err := conn.Send(to, "text/plain", []byte(body), stomp.SendOpt.Receipt); err != nil {
			return nil, nil, nil, err
		}
		message, err := next(from)
		if err != nil {
			return nil, nil, nil, err
		}
		messages = append(messages, message)
	}
	return conn, from, messages, nil
}

func left(to string, expected ...string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return err
	}
	var found []string
	for range expected {
		message, err := next(from)
		if err != nil {
			return err
		}
		found = append(found, string(message.Body))
	}
	slices.Sort(found)
	return errors.Join(equal(found, expected), none(from), conn.Disconnect())
}

func ackOne(to string, mode stomp.AckMode, rest ...string) error {
	conn, _, messages, err := three(to, mode)
	if err != nil {
		return err
	}
	if err := errors.Join(conn.Ack(messages[1]), conn.Disconnect()); err != nil {
		return err
	}
	return left(to, rest...)
}

func nack(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckClientIndividual)
	if err != nil {
		return err
	}
	if err := conn.Send(to, "text/plain", []byte("x")); err != nil {
		return err
	}
	message, err := next(from)
	if err != nil {
		return err
	}
	if err := conn.Nack(message); err != nil {
		return err
	}
	again, err := next(from)
	if err != nil {
		return err
	}
	return errors.Join(equal(again.Header.Get("redelivered"), "true"), conn.Ack(again), conn.Disconnect())
}

func begun(to string) (*stomp.Conn, *stomp.Subscription, *stomp.Transaction, error) {
	conn, err := connected()
	if err != nil {
		return nil, nil, nil, err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return nil, nil, nil, err
	}
	transaction, err := conn.BeginWithError()
	if err != nil {
		return nil, nil, nil, err
	}
	return conn, from, transaction, transaction.Send(to, "text/plain", []byte("x"))
}

func commit(to string) error {
	conn, from, transaction, err := begun(to)
	if err != nil {
		return err
	}
	if err := errors.Join(none(from), transaction.Commit()); err != nil {
		return err
	}
	_, err = next(from)
	return errors.Join(err, conn.Disconnect())
}

func abort(to string) error {
	conn, from, transaction, err := begun(to)
	if err != nil {
		return err
	}
	return errors.Join(transaction.Abort(), none(from), conn.Disconnect())
}

func ackInTransaction(to string) error {
	conn, _, messages, err := three(to, stomp.AckClientIndividual)
	if err != nil {
		return err
	}
	transaction := conn.Begin()
	if err := errors.Join(transaction.Ack(messages[0]), transaction.Commit()); err != nil {
		return err
	}
	transaction = conn.Begin()
	if err := errors.Join(transaction.Nack(messages[1]), transaction.Abort(), conn.Disconnect()); err != nil {
		return err
	}
	return left(to, "1", "2")
}

func specials(to string) error {
	conn, err := connected(stomp.ConnOpt.AcceptVersion(stomp.V12))
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return err
	}
	special := "c\\d:e\nf\rg"
	header := stomp.SendOpt.Header("a:b", special)
	if err := conn.Send(to, "text/plain", []byte("x"), header, stomp.SendOpt.Header("ü", "grün")); err != nil {
		return err
	}
	message, err := next(from)
	if err != nil {
		return err
	}
	found := []string{message.Header.Get("a:b"), message.Header.Get("ü")}
	return errors.Join(equal(found, []string{special, "grün"}), conn.Disconnect())
}

func bodies(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return err
	}
	for _, body := range [][]byte{[]byte("grün €"), {0, 'a', 0, '\n'}, bytes.Repeat([]byte("x"), 3_000_000)} {
		if err := conn.Send(to, "application/octet-stream", body); err != nil {
			return err
		}
		message, err := next(from)
		if err != nil {
			return err
		}
		if !bytes.Equal(message.Body, body) {
			return errors.New("the body has changed")
		}
	}
	return conn.Disconnect()
}

func selector(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto, stomp.SubscribeOpt.Header("selector", "colour = 'red'"))
	if err != nil {
		return err
	}
	for _, colour := range []string{"blue", "red"} {
		if err := conn.Send(to, "text/plain", []byte(colour), stomp.SendOpt.Header("colour", colour)); err != nil {
			return err
		}
	}
	message, err := next(from)
	if err != nil {
		return err
	}
	return errors.Join(equal(string(message.Body), "red"), none(from), conn.Disconnect())
}

func unsubscribe(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	from, err := conn.Subscribe(to, stomp.AckAuto)
	if err != nil {
		return err
	}
	if err := errors.Join(from.Unsubscribe(), conn.Send(to, "text/plain", []byte("x")), conn.Disconnect()); err != nil {
		return err
	}
	return left(to, "x")
}

func heartBeats(to string) error {
	conn, err := connected(stomp.ConnOpt.HeartBeat(800*time.Millisecond, 800*time.Millisecond))
	if err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	return errors.Join(conn.Send(to, "text/plain", []byte("x"), stomp.SendOpt.Receipt), conn.Disconnect())
}

func failing(to string) error {
	conn, err := connected()
	if err != nil {
		return err
	}
	wrong := func(f *frame.Frame) error {
		f.Header.Set(frame.Transaction, "none")
		return nil
	}
	if err := conn.Send(to, "text/plain", []byte("x"), stomp.SendOpt.Receipt, wrong); err == nil {
		return errors.New("a send in an unknown transaction was accepted")
	}
	if err := conn.Send(to, "text/plain", []byte("x"), stomp.SendOpt.Receipt); err == nil {
		return errors.New("the connection goes on after an error")
	}
	return nil
}

func tried(one check) line {
	began := time.Now()
	detail := ""
	if err := one.body("/queue/gostomp." + one.name); err != nil {
		detail = err.Error()
	}
	return line{one.name, detail == "", float64(time.Since(began).Milliseconds()), detail}
}

func main() {
	mode, rest := os.Args[1], os.Args[2:]
	var names []string
	for index := 0; index < len(rest); index++ {
		if rest[index] == "--url" {
			index++
			found, err := url.Parse(rest[index])
			if err != nil {
				panic(err)
			}
			place = found.Host
		} else if strings.HasPrefix(rest[index], "--") {
			index++
		} else {
			names = append(names, rest[index])
		}
	}
	for _, one := range checks {
		if mode == "list" {
			fmt.Println(one.name)
		} else if len(names) == 0 || slices.Contains(names, one.name) {
			said, _ := json.Marshal(tried(one))
			fmt.Println(string(said))
		}
	}
}
