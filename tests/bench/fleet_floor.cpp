/*
 * fleet_floor.cpp - does the minimum work of a load from a server.
 */
#include "bench/fleet_floor.h"

#include "bench/persist_floor.h"
#include "bench/sample.h"

#include <curl/curl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <stdexcept>

namespace fleet
{
namespace
{

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("floor: ") + what);
}

class Redis : NotCopied
{
public:
    explicit Redis(uint16_t port) : connection_(redisConnect("127.0.0.1", port))
    {
        const int one = 1;
        require(connection_ != nullptr && connection_->err == 0, "no connection to Redis");
        setsockopt(connection_->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    ~Redis() { redisFree(connection_); }

    /* The caller frees the reply. */
    redisReply *ask(const std::vector<std::string> &words)
    {
        std::vector<const char *> texts;
        std::vector<size_t> sizes;
        for (const std::string &word : words) {
            texts.push_back(word.c_str());
            sizes.push_back(word.size());
        }
        return static_cast<redisReply *>(
            redisCommandArgv(connection_, static_cast<int>(words.size()), texts.data(), sizes.data()));
    }
    redisReply *get(const std::string &key)
    {
        const char *texts[] = {"GET", key.c_str()};
        const size_t sizes[] = {3, key.size()};
        return static_cast<redisReply *>(redisCommandArgv(connection_, 2, texts, sizes));
    }

private:
    redisContext *connection_;
};

class RedisFloor : public Floor
{
public:
    RedisFloor(uint16_t port, const std::vector<std::string> &names) : redis_(port), names_(names) {}

    uint64_t load(size_t number) override
    {
        redisReply *reply = redis_.get(names_[number % names_.size()]);
        require(reply != nullptr && reply->type == REDIS_REPLY_STRING, "Redis does not have an object");
        size_ = std::max(size_, reply->len);
        const uint64_t sum = bench::checksum(reply->len, reply->str);
        freeReplyObject(reply);
        return sum;
    }
    size_t object_size() const override { return size_; }

private:
    Redis redis_;
    std::vector<std::string> names_;
    size_t size_ = 0;
};

class HttpFloor : public Floor, NotCopied
{
public:
    explicit HttpFloor(const std::vector<std::string> &names)
        : curl_(curl_easy_init()), names_(names), buffer_(size_t{4} << 20)
    {
        require(curl_ != nullptr, "no handle of libcurl");
        curl_easy_setopt(curl_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(curl_, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(curl_, CURLOPT_WRITEDATA, this);
    }
    ~HttpFloor() override { curl_easy_cleanup(curl_); }

    uint64_t load(size_t number) override
    {
        received_ = 0;
        curl_easy_setopt(curl_, CURLOPT_URL, names_[number % names_.size()].c_str());
        require(curl_easy_perform(curl_) == CURLE_OK, "the HTTP server does not have an object");
        size_ = std::max(size_, received_);
        return bench::checksum(received_, buffer_.data());
    }
    size_t object_size() const override { return size_; }

private:
    static size_t receive(char *bytes, size_t, size_t size, void *user)
    {
        auto *self = static_cast<HttpFloor *>(user);
        if (size > self->buffer_.size() - self->received_)
            return 0;
        std::memcpy(self->buffer_.data() + self->received_, bytes, size);
        self->received_ += size;
        return size;
    }

    CURL *curl_;
    std::vector<std::string> names_;
    bench::Bytes buffer_;
    size_t received_ = 0;
    size_t size_ = 0;
};

} // namespace

std::unique_ptr<Floor> make_redis_floor(uint16_t port, const std::vector<std::string> &names)
{
    return std::make_unique<RedisFloor>(port, names);
}

std::unique_ptr<Floor> make_http_floor(const std::vector<std::string> &names)
{
    return std::make_unique<HttpFloor>(names);
}

} // namespace fleet
