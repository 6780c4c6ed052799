package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.Creation;
import io.caravan.server.document.Creation.Created;
import io.caravan.server.document.Creation.ForkPoint;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.JsonBody;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.codec.RequestHeaders;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.read.StreamAnswers;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code PUT} of a stream: creates it, perhaps as a fork of another, unless it is what it is to be. */
public final class StreamCreate implements Endpoint {
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]_-]{1,255}");

    private final Writes writes;
    private final JsonBody jsonBody;

    public StreamCreate(Writes writes, JsonBody jsonBody) {
        this.writes = writes;
        this.jsonBody = jsonBody;
    }

    @Override
    public void handle(Exchange exchange) {
        Request request = exchange.request();
        DocumentName name = StreamName.of(exchange.route().rest(request.path()));
        ForkPoint fork = forkPoint(request);
        if (fork != null) {
            Gate.checkDocument(exchange.principal(), Permission.READ, fork.source());
        }
        OptionalLong ttl = RequestHeaders.number(request, StreamHeaders.TTL);
        OptionalLong expiresAt = RequestHeaders.moment(request, StreamHeaders.EXPIRES_AT);
        if (ttl.isPresent() && expiresAt.isPresent()) {
            throw ProblemException.badRequest("invalid_header", "Stream-TTL and Stream-Expires-At exclude each other");
        }
        String contentType = RequestHeaders.contentType(request);
        // Splitting JSON takes its time, and a fork may have to read.
        writes.runApart(
                exchange,
                documents -> documents.create(
                        name,
                        new Creation(
                                contentType,
                                ttl,
                                expiresAt,
                                request.flag(StreamHeaders.CLOSED),
                                values(name, contentType, request.body()),
                                fork),
                        writes.answering(exchange, created -> answer(exchange, created))));
    }

    private List<byte[]> values(DocumentName name, @Nullable String contentType, byte[] body) {
        if (body.length == 0) {
            return List.of();
        }
        return contentType != null && ContentTypes.isJson(contentType) ? jsonBody.messages(name, body) : List.of(body);
    }

    private static @Nullable ForkPoint forkPoint(Request request) {
        String source = request.header(StreamHeaders.FORKED_FROM);
        String offset = request.header(StreamHeaders.FORK_OFFSET);
        OptionalLong part = RequestHeaders.number(request, StreamHeaders.FORK_SUB_OFFSET);
        if (source == null) {
            if (offset != null || part.isPresent()) {
                throw ProblemException.badRequest(
                        "invalid_header", "Stream-Fork-Offset and Stream-Fork-Sub-Offset need Stream-Forked-From");
            }
            return null;
        }
        OptionalLong sequence = offset == null
                ? OptionalLong.empty()
                : OptionalLong.of(Offset.sequence(offset, StreamHeaders.FORK_OFFSET));
        return new ForkPoint(source(source), sequence, part.orElse(0));
    }

    private static DocumentName source(String path) {
        if (!path.startsWith(StreamName.PREFIX)) {
            throw new ProblemException(new Problem(
                    HttpResponseStatus.NOT_FOUND,
                    "source_not_found",
                    "Stream-Forked-From is the path of a stream, which begins with " + StreamName.PREFIX));
        }
        return StreamName.of(path.substring(StreamName.PREFIX.length()));
    }

    private static Answer answer(Exchange exchange, Created created) {
        DocumentInfo info = created.info();
        boolean made = created.result() == Creation.Result.CREATED;
        Answer answer = StreamAnswers.of(made ? HttpResponseStatus.CREATED : HttpResponseStatus.OK, info)
                .header("Content-Type", info.attributes().contentType())
                .header("Cache-Control", "no-store");
        return made ? answer.header("Location", location(exchange)) : answer;
    }

    /** Absolute when the client told whom it asked. */
    private static String location(Exchange exchange) {
        Request request = exchange.request();
        String host = request.headers().get(HttpHeaderNames.HOST, "");
        return HOST.matcher(host).matches() ? exchange.scheme() + "://" + host + request.path() : request.path();
    }
}
