module interop/stompchecks

go 1.25

require github.com/go-stomp/stomp/v3 v3.1.3
