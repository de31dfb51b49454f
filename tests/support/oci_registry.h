/*
 * oci_registry.h - a small OCI registry in the memory of the test, which can lie.
 */
#ifndef INGOT_TESTS_SUPPORT_OCI_REGISTRY_H
#define INGOT_TESTS_SUPPORT_OCI_REGISTRY_H

#include <sodium.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "support/faulty_server.h"

namespace oci_registry
{

struct Request {
    std::string method, path, head, body;

    /* Returns the value of a header, or "". */
    std::string header(const std::string &name) const
    {
        const size_t at = head.find("\r\n" + name + ": ");
        const size_t begin = at + name.size() + 4;
        return at == std::string::npos ? "" : head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

struct Answer {
    int status = 200;
    std::string body = {};
    std::vector<std::string> headers = {};
};

inline std::string digest_of(const std::string &bytes)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[2 * crypto_hash_sha256_BYTES + 1];
    crypto_hash_sha256(hash, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
    sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
    return std::string("sha256:") + text;
}

class Registry
{
public:
    /* Changes an answer, or sends one itself and returns false, which also closes the connection. */
    using Lie = std::function<bool(const Request &request, Answer *answer, FaultyConnection *connection)>;

    Registry() : server_([this](FaultyConnection &connection) { serve(connection); }) {}

    std::string url(const std::string &rest = "/cache:v1") const
    {
        return "oci://127.0.0.1:" + std::to_string(server_.port()) + rest + "?plain-http=1";
    }
    std::string origin() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    void set_lie(const Lie &lie)
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        lie_ = lie;
    }
    std::map<std::string, std::string> blobs, manifests; /* by digest, and by tag */
    std::vector<Request> requests() const
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return requests_;
    }
    void forget_requests()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        requests_.clear();
    }

private:
    static bool read_whole(FaultyConnection &connection, std::string *left, Request *request)
    {
        size_t end;
        while ((end = left->find("\r\n\r\n")) == std::string::npos) {
            const std::string more = connection.read_some();
            if (more.empty())
                return false;
            *left += more;
        }
        request->head = left->substr(0, end + 2);
        const size_t space = request->head.find(' ');
        request->method = request->head.substr(0, space);
        request->path = request->head.substr(space + 1, request->head.find(' ', space + 1) - space - 1);
        const std::string length = request->header("Content-Length");
        const size_t size = length.empty() ? 0 : std::stoul(length);
        while (left->size() < end + 4 + size) {
            const std::string more = connection.read_some();
            if (more.empty())
                return false;
            *left += more;
        }
        request->body = left->substr(end + 4, size);
        left->erase(0, end + 4 + size);
        return true;
    }

    Answer answer(const Request &request)
    {
        const size_t slash = request.path.rfind('/');
        const std::string last = request.path.substr(slash + 1);
        if (request.path.find("/manifests/") != std::string::npos) {
            if (request.method == "PUT") {
                manifests[last] = request.body;
                return {201};
            }
            return manifests.count(last) != 0 ? Answer{200, manifests[last]} : Answer{404};
        }
        if (request.method == "POST")
            return {202, "", {"Location: /upload/1?state=x"}};
        if (request.method == "PUT") {
            const std::string wanted = request.path.substr(request.path.find("digest=") + 7);
            if (digest_of(request.body) != wanted)
                return {400};
            blobs[wanted] = request.body;
            return {201};
        }
        if (blobs.count(last) == 0)
            return {404};
        const std::string range = request.header("Range");
        if (range.empty())
            return {200, blobs[last]};
        const size_t begin = std::stoul(range.substr(6));
        const size_t end = std::stoul(range.substr(range.find('-') + 1));
        return {206, blobs[last].substr(begin, end - begin + 1)};
    }

    void serve(FaultyConnection &connection)
    {
        std::string left;
        Request request;
        while (read_whole(connection, &left, &request)) {
            Lie lie;
            Answer made;
            {
                const std::lock_guard<std::mutex> guard(mutex_);
                requests_.push_back(request);
                made = answer(request);
                lie = lie_;
            }
            if (lie && !lie(request, &made, &connection))
                return;
            std::string text = "HTTP/1.1 " + std::to_string(made.status) + " X\r\n";
            for (const std::string &header : made.headers)
                text += header + "\r\n";
            text += "Content-Length: " + std::to_string(made.body.size()) + "\r\n\r\n";
            if (!connection.send_bytes(text + (request.method == "HEAD" ? "" : made.body)))
                return;
        }
    }

    mutable std::mutex mutex_;
    Lie lie_;
    std::vector<Request> requests_;
    FaultyServer server_; /* last, so that it ends first */
};

} // namespace oci_registry

#endif
