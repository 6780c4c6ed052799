package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.AppendRequest.Added;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.CreateRequest;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.JsonMessages;
import io.caravan.server.document.Producer;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The endpoints that create, append to, close, trim, and delete streams. */
final class StreamWrites {
    /** The maximum number of bytes that the store writes for a JSON message in addition to the message itself. */
    public static final int MESSAGE_OVERHEAD_BYTES = 47;

    private static final String TRIM = "trim";
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]_-]{1,255}");
    /** The names of headers that proxies add to forwarded requests. */
    private static final Set<String> BY_PROXIES =
            Set.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via");
    /** The size above which a JSON body is split into messages on a reading thread. */
    private static final int SMALL_BYTES = 16 * 1024;

    private StreamWrites() {}

    /** Creates a stream, optionally as a fork, unless a matching stream already exists. */
    static void create(HttpExchange exchange) {
        Request request = exchange.request;
        DocumentName name = exchange.documentName();
        ForkPoint fork = forkPoint(request);
        if (fork != null) {
            exchange.require(Permission.READ, fork.source());
        }
        OptionalLong ttl = request.number(StreamHeaders.TTL);
        OptionalLong expiresAt = request.time(StreamHeaders.EXPIRES_AT);
        Problem.require(
                ttl.isEmpty() || expiresAt.isEmpty(),
                "invalid_header",
                "Stream-TTL and Stream-Expires-At exclude each other");
        String contentType = request.contentType();
        boolean closed = request.flag(StreamHeaders.CLOSED);
        // Splitting JSON may take a long time, and a fork may have to read values.
        exchange.writeApart(List.of(name), documents -> {
            List<byte[]> values = values(exchange, contentType);
            documents.create(
                    name,
                    new CreateRequest(contentType, ttl, expiresAt, closed, values, fork),
                    exchange.outcome(List.of(name), created -> created(exchange, created)));
        });
    }

    private static @Nullable ForkPoint forkPoint(Request request) {
        String source = request.header(StreamHeaders.FORKED_FROM);
        String offset = request.header(StreamHeaders.FORK_OFFSET);
        OptionalLong part = request.number(StreamHeaders.FORK_SUB_OFFSET);
        if (source == null) {
            Problem.require(
                    offset == null && part.isEmpty(),
                    "invalid_header",
                    "Stream-Fork-Offset and Stream-Fork-Sub-Offset need Stream-Forked-From");
            return null;
        }
        return new ForkPoint(source(source), sequence(request, StreamHeaders.FORK_OFFSET), part.orElse(0));
    }

    private static OptionalLong sequence(Request request, CharSequence header) {
        String offset = request.header(header);
        return offset == null ? OptionalLong.empty() : OptionalLong.of(Offset.sequence(offset, header.toString()));
    }

    private static DocumentName source(String path) {
        if (!path.startsWith(StreamName.PREFIX)) {
            throw new Problem(
                    404,
                    "source_not_found",
                    "Stream-Forked-From is the path of a stream, which begins with " + StreamName.PREFIX);
        }
        return StreamName.of(path.substring(StreamName.PREFIX.length()));
    }

    private static Response created(HttpExchange exchange, Created created) {
        DocumentInfo info = created.info();
        boolean made = created.created();
        if (!made && exchange.request.mustBeNew()) {
            throw new Problem(412, "condition_failed", "the stream exists, and was to be new: If-None-Match is *");
        }
        Response response = Response.of(made ? 201 : 200, info)
                .uncached()
                .header("Content-Type", info.attributes().contentType());
        return made ? response.header("Location", location(exchange)) : response;
    }

    /**
     * Returns an absolute URL, as the protocol requires, or a relative URL if the request came through a proxy. The
     * proxy hides the scheme, host, and prefix that the client uses.
     */
    private static String location(HttpExchange exchange) {
        Request request = exchange.request;
        String path = request.path;
        String host = request.headers.get(HttpHeaderNames.HOST, "");
        boolean proxied = BY_PROXIES.stream().anyMatch(request.headers::contains);
        return proxied || !HOST.matcher(host).matches()
                ? "./" + path.substring(path.lastIndexOf('/') + 1)
                : exchange.scheme() + "://" + host + path;
    }

    /** Appends the body, closes the stream, or, with the {@code trim} parameter, trims the oldest values. */
    static void append(HttpExchange exchange) {
        Request request = exchange.request;
        String trimTo = request.parameter(TRIM);
        if (trimTo != null) {
            trim(exchange, trimTo);
            return;
        }
        DocumentName name = exchange.documentName();
        Producer producer = request.producer();
        boolean close = request.flag(StreamHeaders.CLOSED);
        boolean empty = request.body.length == 0;
        String contentType = request.contentType();
        if (empty && !close) {
            throw Problem.badRequest(
                    "empty_body",
                    "the body is the value to append, and must not be empty unless Stream-Closed is true");
        }
        if (!empty && contentType == null) {
            throw Problem.badRequest("content_type_missing", "a body needs a Content-Type, the stream's");
        }
        String seq = request.header(StreamHeaders.SEQ);
        OptionalLong sequence = sequence(request, StreamHeaders.IF_OFFSET);
        Consumer<DocumentService> append = documents -> {
            List<byte[]> values = values(exchange, contentType);
            if (!empty && values.isEmpty()) {
                throw Problem.badRequest("empty_array", "the array contains no messages to append");
            }
            AppendRequest addition =
                    new AppendRequest(name, values, close, empty ? null : contentType, seq, producer, sequence);
            List<DocumentName> names = List.of(name);
            documents.write(names, addition, exchange.outcome(names, added -> appended(added, empty)));
        };
        if (request.body.length > SMALL_BYTES && contentType != null && ContentTypes.isJson(contentType)) {
            exchange.writeApart(List.of(name), append);
        } else {
            exchange.write(name, append);
        }
    }

    private static Response appended(Added added, boolean closeOnly) {
        Producer producer = added.producer();
        boolean numbered = producer != null && !added.repeated() && !closeOnly;
        Response response = Response.of(numbered ? 200 : 204, added.info()).uncached();
        if (producer != null) {
            response.header(StreamHeaders.PRODUCER_EPOCH, Long.toString(producer.epoch()))
                    .header(StreamHeaders.PRODUCER_SEQ, Long.toString(producer.sequence()));
        }
        return response;
    }

    private static List<byte[]> values(HttpExchange exchange, @Nullable String contentType) {
        byte[] body = exchange.request.body;
        if (body.length == 0) {
            return List.of();
        }
        return contentType != null && ContentTypes.isJson(contentType) ? messages(exchange, body) : List.of(body);
    }

    /**
     * Splits a JSON body into messages, which must fit into one write because the append is atomic. A single message
     * always fits, because its length has its own limit.
     */
    private static List<byte[]> messages(HttpExchange exchange, byte[] body) {
        long maxBatchBytes = exchange.protocol.config.maxBatchBytes();
        List<byte[]> messages = new ArrayList<>();
        long[] bytes = {0};
        JsonMessages.forEach(exchange.documentName(), body, message -> {
            bytes[0] += MESSAGE_OVERHEAD_BYTES + message.length;
            if (bytes[0] > maxBatchBytes && !messages.isEmpty()) {
                throw new Problem(
                        413,
                        "too_many_messages",
                        "only the array's first " + messages.size() + " messages fit in one request: their bytes and "
                                + MESSAGE_OVERHEAD_BYTES + " more for each may be " + maxBatchBytes
                                + " together; send them in several requests");
            }
            messages.add(message);
        });
        return messages;
    }

    /**
     * Trims the values before an offset; this operation is an extension of the protocol. The method is {@code POST},
     * because a {@code DELETE} request that lost its parameter in transit would delete the stream.
     */
    private static void trim(HttpExchange exchange, String to) {
        exchange.operation = "trimStream";
        boolean bodiless = exchange.request.body.length == 0;
        Problem.require(bodiless, "body_not_empty", "a trim has no body; append in a separate request");
        Offset offset = Offset.parse(to, TRIM);
        edit(
                exchange,
                document -> trim(document, offset),
                info -> Response.of(204, info)
                        .uncached()
                        .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence())));
    }

    private static <T> void edit(
            HttpExchange exchange, Function<EditedDocument, T> edit, Function<T, Response> response) {
        DocumentName name = exchange.documentName();
        exchange.write(name, documents -> documents.write(name, edit, exchange.outcome(List.of(name), response)));
    }

    static DocumentInfo trim(EditedDocument document, Offset offset) {
        DocumentInfo info = StreamPosition.required(document.info(), document.name());
        document.trimTo(offset.atLeastFirstIn(info));
        return StreamPosition.required(document.info(), document.name());
    }

    static void delete(HttpExchange exchange) {
        edit(exchange, EditedDocument::delete, existed -> {
            if (!existed) {
                throw StreamPosition.notFound(exchange.documentName());
            }
            return new Response(204).uncached();
        });
    }
}
