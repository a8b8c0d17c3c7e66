// The client of Go's crypto/tls: one line of JSON in, one line out, for each combination.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

type combination struct {
	Port     int
	Version  string
	Ca       string
	Cert     string
	Key      string
	Suites   []string
	Sessions bool
}

func suiteIds(names []string) []uint16 {
	var ids []uint16
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		for _, name := range names {
			if suite.Name == name {
				ids = append(ids, suite.ID)
			}
		}
	}
	return ids
}

func visit(config *tls.Config, port int) string {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	connection, err := tls.DialWithDialer(dialer, "tcp", fmt.Sprintf("127.0.0.1:%d", port), config)
	if err != nil {
		return failure(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(connection, "GET / HTTP/1.1\r\nhost: kit.test\r\nconnection: close\r\n\r\n")
	answer, err := io.ReadAll(connection)
	if err != nil {
		return failure(err)
	}
	state := connection.ConnectionState()
	reused := ""
	if state.DidResume {
		reused = " resumed"
	}
	return fmt.Sprintf("%s %s%s %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), reused,
		strings.SplitN(string(answer), "\r\n", 2)[0])
}

func failure(err error) string {
	var alert tls.AlertError
	if errors.As(err, &alert) {
		return fmt.Sprintf("alert %d", uint8(alert))
	}
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var asked combination
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(asked.Ca))
		config := &tls.Config{RootCAs: roots, ServerName: "server.test", CipherSuites: suiteIds(asked.Suites)}
		version := uint16(tls.VersionTLS13)
		if asked.Version == "1.2" {
			version = tls.VersionTLS12
		}
		config.MinVersion, config.MaxVersion = version, version
		if asked.Cert != "" {
			pair, err := tls.X509KeyPair([]byte(asked.Cert), []byte(asked.Key))
			if err != nil {
				panic(err)
			}
			// Shown whomever the server says it trusts, as other clients do.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		if asked.Sessions {
			config.ClientSessionCache = tls.NewLRUClientSessionCache(8)
			visit(config, asked.Port)
		}
		answer, _ := json.Marshal(visit(config, asked.Port))
		fmt.Println(string(answer))
	}
}
