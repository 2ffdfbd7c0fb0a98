// Command checks lets go-amqp judge an AMQP 1.0 server.
//
// "list" prints the names and needs of all checks; "run --url U [--user U --password P] [--has a,b] [NAME...]" runs
// those whose needs the server has, and prints one line of JSON for each. Needs are as in ../qpid-jms.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

const limit = 60 * time.Second

type check struct {
	name  string
	body  func(*bench)
	needs []string
}

type line struct {
	Check  string  `json:"check"`
	OK     bool    `json:"ok"`
	Ms     float64 `json:"ms"`
	Detail string  `json:"detail"`
}

// failure is what a claim that does not hold panics with.
type failure struct{ text string }

func fail(format string, values ...any) {
	panic(failure{fmt.Sprintf(format, values...)})
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}

func equal[T comparable](what string, expected, got T) {
	if expected != got {
		fail("%s: expected %v, got %v", what, expected, got)
	}
}

// placed is where in a check it failed.
func placed() string {
	var lines []string
	for _, each := range strings.Split(string(debug.Stack()), "\n") {
		ours := strings.Contains(each, "/go-amqp/") && !strings.Contains(each, "/go-amqp/main.go")
		if strings.Contains(each, ".go:") && ours {
			lines = append(lines, strings.TrimSpace(each))
		}
	}
	return strings.Join(lines, "\n")
}

func try(each check, options map[string]string) line {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	detail := make(chan string, 1)
	go func() {
		place := &bench{ctx: ctx, name: each.name, options: options}
		defer func() {
			text := ""
			if thrown := recover(); thrown != nil {
				if claim, ours := thrown.(failure); ours {
					text = claim.text + "\n" + placed()
				} else {
					text = fmt.Sprintf("%v\n%s", thrown, debug.Stack())
				}
			}
			place.end()
			detail <- text
		}()
		each.body(place)
	}()
	said := line{Check: each.name}
	select {
	case said.Detail = <-detail:
	case <-time.After(limit + 5*time.Second):
		said.Detail = fmt.Sprintf("not done within %v", limit)
	}
	said.OK = said.Detail == ""
	said.Ms = float64(time.Since(begun).Milliseconds())
	return said
}

func main() {
	checks := slices.Concat(sending, receiving, subscribing, typing, connecting)
	if len(os.Args) > 1 && os.Args[1] == "list" {
		for _, each := range checks {
			fmt.Println(strings.Join(append([]string{each.name}, each.needs...), " "))
		}
		return
	}
	options := map[string]string{}
	var chosen []string
	for index := 2; index < len(os.Args); index++ {
		if name, flagged := strings.CutPrefix(os.Args[index], "--"); flagged && index+1 < len(os.Args) {
			index++
			options[name] = os.Args[index]
		} else {
			chosen = append(chosen, os.Args[index])
		}
	}
	has := strings.Split(options["has"], ",")
	out := json.NewEncoder(os.Stdout)
	for _, each := range checks {
		lacks := slices.ContainsFunc(each.needs, func(need string) bool { return !slices.Contains(has, need) })
		if lacks || (len(chosen) > 0 && !slices.Contains(chosen, each.name)) {
			continue
		}
		must(out.Encode(try(each, options)))
	}
}
