/*
 * encrypted_redis.h - starts a real Redis with encrypted connections, and makes certificates for it and its clients.
 */
#pragma once

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/scratch_directory.h"
#include "support/server_process.h"

namespace encrypted_redis
{

/* An authority, and certificates that it has signed: for the server, for another server, and for a client. */
class Certificates
{
public:
    Certificates()
    {
        make("ca", "/CN=authority", {"-x509"}, "");
        sign("server", "subjectAltName=IP:127.0.0.1,DNS:localhost");
        sign("other-server", "subjectAltName=DNS:other.example");
        sign("client", "extendedKeyUsage=clientAuth");
    }
    /* Makes a certificate that the authority has not signed, and its RSA key. All others use elliptic curves. */
    void make_rsa(const std::string &name) const
    {
        run({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout", at(name + ".key"),
             "-out", at(name + ".pem")});
        chmod(at(name + ".key").c_str(), 0600);
    }
    std::string at(const std::string &name) const { return scratch_.path() / name; }

private:
    void run(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), server_process::find_program("openssl"));
        ASSERT_EQ(0, child_process::Child(arguments, at("log")).wait());
    }
    void make(const std::string &name, const std::string &subject, const std::vector<std::string> &more,
              const std::string &suffix) const
    {
        std::vector<std::string> arguments = {"req",
                                              "-newkey",
                                              "ec",
                                              "-pkeyopt",
                                              "ec_paramgen_curve:prime256v1",
                                              "-nodes",
                                              "-subj",
                                              subject,
                                              "-keyout",
                                              at(name + ".key"),
                                              "-out",
                                              at(name + (suffix.empty() ? ".pem" : suffix))};
        arguments.insert(arguments.end(), more.begin(), more.end());
        run(arguments);
        chmod(at(name + ".key").c_str(), 0600);
    }
    void sign(const std::string &name, const std::string &extension) const
    {
        std::ofstream(at(name + ".ext")) << extension << "\n";
        make(name, "/CN=" + name, {}, ".csr");
        run({"x509", "-req", "-days", "2", "-in", at(name + ".csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"),
             "-CAcreateserial", "-extfile", at(name + ".ext"), "-out", at(name + ".pem")});
    }
    ScratchDirectory scratch_;
};

/* A Redis server. `clients` is "yes" if clients must show a certificate, and "no" otherwise. */
class EncryptedRedis : public server_process::Redis
{
public:
    EncryptedRedis(const Certificates &files, const std::string &certificate, const std::string &clients)
        : Redis([=, &files](uint16_t port) {
              return std::vector<std::string>{"--port",
                                              "0",
                                              "--tls-port",
                                              std::to_string(port),
                                              "--tls-cert-file",
                                              files.at(certificate + ".pem"),
                                              "--tls-key-file",
                                              files.at(certificate + ".key"),
                                              "--tls-ca-cert-file",
                                              files.at("ca.pem"),
                                              "--tls-auth-clients",
                                              clients};
          })
    {
        /* it opens its local socket last */
        EXPECT_TRUE(server_process::becomes_true([this] { return ask({"PING"}) == "PONG\n"; }));
    }
    std::string url(const std::string &rest, const std::string &scheme = "rediss://127.0.0.1") const
    {
        return scheme + ":" + std::to_string(port()) + rest;
    }
    /* Returns what redis-cli prints when it uses the server's local socket. */
    std::string ask(const std::vector<std::string> &words) const
    {
        std::vector<std::string> arguments = {server_process::find_program("redis-cli"), "-s", folder() + "/socket"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        child_process::Child child(arguments, folder() + "/answer");
        child.wait();
        return child.output();
    }
    unsigned connection_count() const
    {
        const std::string text = ask({"INFO", "stats"});
        const std::string name = "total_connections_received:";
        return static_cast<unsigned>(std::stoul(text.substr(text.find(name) + name.size())));
    }
};

} // namespace encrypted_redis
