package io.caravan.server.protocol.http;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.MovedException;
import io.caravan.server.document.Outcome;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WaitingTasks;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.EventExecutor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request and its response, which is written in the form that the version and method of the request require. The
 * response is either sent by one call to {@link #respond}, on any thread, or streamed on the event loop, from {@link
 * #start} to {@link #finish}.
 *
 * <p>An endpoint uses {@link #atEnd} to release resources when the response is complete or the client has disconnected.
 */
final class HttpExchange {
    private static final Logger LOG = LoggerFactory.getLogger(HttpExchange.class);

    /**
     * The content security policy of every response except those with files of the console. Clients choose the content
     * types of documents. If a browser shows a document as a page, it must not run scripts of the document or treat the
     * document as a page of this server.
     */
    static final String POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

    private static final String LINE_END = "\r\n";
    /** Maximum length of the first line of a chunk: eight hexadecimal digits, and the line end. */
    private static final int MAX_CHUNK_LENGTH_BYTES = 10;

    final HttpProtocol protocol;
    final ConnectionMemory memory;
    final Request request;
    final Route route;
    final Principal principal;
    /** The name in the metrics, which an endpoint may change before it responds. */
    String operation;
    /** The status code of the response, or 0 if there is no response yet. */
    int status;
    /** Whether the response is complete, or the client has disconnected. */
    volatile boolean over;

    private final HttpConnection connection;
    private final Channel channel;
    private @Nullable DocumentName documentName;
    private long startedNanos;
    private boolean keepAlive;
    private final List<Runnable> endActions = new ArrayList<>(0);
    /** The work that waits for a shared resource; null if there was none yet. Guarded by this. */
    private @Nullable WaitingTasks waiting;

    private @Nullable Runnable onWritable;
    private @Nullable Runnable onDrain;
    private boolean draining;

    /** Creates an exchange for a request whose body may still be arriving. */
    HttpExchange(HttpConnection connection, Request request, Route route, Principal principal) {
        this.connection = connection;
        this.channel = connection.channel();
        this.memory = connection.memory();
        this.protocol = connection.protocol;
        this.request = request;
        this.route = route;
        this.principal = principal;
        this.keepAlive = HttpUtil.isKeepAlive(request.head);
        this.operation = route.operation();
    }

    /** Passes the request, which has arrived completely, to the endpoint. */
    void begin() {
        request.complete();
        startedNanos = System.nanoTime();
        run(() -> route.endpoint().accept(this));
    }

    private boolean oldVersion() {
        return !request.head.protocolVersion().isKeepAliveDefault();
    }

    /** Releases the memory of the request body, which is no longer needed. Called on the event loop. */
    void releaseBody() {
        request.releaseBody();
        connection.bodyReleased();
    }

    /** Returns the document service. Throws {@link Problem} if the server does not serve documents now. */
    DocumentService documents() {
        return protocol.served().documents();
    }

    DocumentName documentName() {
        if (documentName == null) {
            documentName = StreamName.of(route.rest(request.path));
        }
        return documentName;
    }

    EventExecutor loop() {
        return channel.eventLoop();
    }

    String scheme() {
        return channel.pipeline().get(SslHandler.class) == null ? "http" : "https";
    }

    /** Throws {@link Problem} if the client lacks this permission on the document. */
    void require(Permission permission, DocumentName name) {
        HttpConnection.check(principal, permission, name);
    }

    /** Throws {@link Problem} if the client's token was revoked, even if part of the response has been sent. */
    void requireStillKnown() {
        if (protocol.authenticated && principal.revoked()) {
            throw Problem.unauthorized("the token was revoked");
        }
    }

    /** Sends the response. Call this once, on any thread. Does nothing if the client has disconnected. */
    void respond(Response response) {
        respond(response, Unpooled.wrappedBuffer(response.body));
    }

    /** Sends the response with this body, as {@link #respond(Response)} does, and releases the body. */
    void respond(Response response, ByteBuf body) {
        onLoop(body, body.capacity(), () -> {
            if (over) {
                body.release();
            } else {
                send(response, body);
                end();
            }
        });
    }

    /** Responds to a request that may not have arrived completely, after which the connection closes. */
    void reject(Problem problem) {
        keepAlive = false;
        Response response = problem.response();
        send(response, Unpooled.wrappedBuffer(response.body));
    }

    /** Sends {@code 100 Continue}, so that the client sends the body of its request. */
    void sendContinue() {
        channel.writeAndFlush(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }

    /** Writes a complete response, and releases its body; or, if {@code body} is null, the head of a streamed one. */
    private void send(Response response, @Nullable ByteBuf body) {
        status = response.status;
        assert route.allStatuses().contains(status) : route.operation() + " does not declare status " + status;
        HttpResponseStatus code = HttpResponseStatus.valueOf(status);
        boolean toHead = request.method().equals(HttpMethod.HEAD);
        boolean mayHaveBody =
                !code.equals(HttpResponseStatus.NO_CONTENT) && !code.equals(HttpResponseStatus.NOT_MODIFIED);
        HttpHeaders headers = response.headers;
        keepAlive &= !protocol.draining;
        if (body != null) {
            int length = body.readableBytes();
            if (mayHaveBody && !(toHead && length == 0)) {
                headers.set(HttpHeaderNames.CONTENT_LENGTH, length);
            }
        } else if (mayHaveBody && !toHead && !headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
            if (oldVersion()) {
                keepAlive = false;
                resetWhenClosed(true);
            } else {
                headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
            }
        }
        protocol.origins.addTo(headers, request.headers);
        if (!headers.contains(HttpHeaderNames.DATE)) {
            headers.set(HttpHeaderNames.DATE, Response.date(System.currentTimeMillis()));
        }
        if (headers.contains(HttpHeaderNames.CONTENT_TYPE)
                && !headers.contains(HttpHeaderNames.CONTENT_SECURITY_POLICY)) {
            headers.set(HttpHeaderNames.CONTENT_SECURITY_POLICY, POLICY);
        }
        if (!keepAlive) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (oldVersion()) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        if (body == null) {
            channel.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, code, headers));
            return;
        }
        if (toHead) {
            body.release();
        }
        ByteBuf content = toHead ? Unpooled.EMPTY_BUFFER : body;
        channel.writeAndFlush(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, content, headers, EmptyHttpHeaders.INSTANCE));
    }

    /**
     * Sets whether the connection is closed with a reset, which the client treats as an error. In HTTP/1.0, the orderly
     * end of the connection marks the end of a body of unknown length, so an incomplete body must end with a reset.
     */
    private void resetWhenClosed(boolean reset) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, reset ? 0 : -1);
        }
    }

    /** Responds with an error, or closes the connection if part of the response was sent. Callable on any thread. */
    void fail(Throwable problem) {
        Problem reported = problem instanceof MovedException moved && route.aboutDocument()
                ? Problem.redirect(moved, request.target())
                : Problem.of(problem);
        onLoop(() -> {
            if (!over && status == 0) {
                respond(reported.response());
            } else if (!over) {
                LOG.warn(
                        "closing {}: its response cannot be completed: {}", channel.remoteAddress(), reported.detail());
                // The client detects that the response is incomplete.
                channel.close();
            }
        });
    }

    /**
     * Runs part of a read on a reading thread, when memory for its response is available. An exception or a revoked
     * token ends the exchange.
     */
    void read(Runnable part) {
        read(part, protocol.readers);
    }

    /** Runs part of a read as {@link #read(Runnable)} does, when this executor runs it. */
    void read(Runnable part, Executor executor) {
        if (!memory.room()) {
            memory.whenRoom(untilEnd(() -> read(part, executor)));
            return;
        }
        executor.execute(untilEnd(() -> run(() -> {
            if (!memory.room()) {
                // Other reads have used the memory in the meantime.
                read(part, executor);
                return;
            }
            requireStillKnown();
            part.run();
        })));
    }

    /**
     * Runs a write to a document on the event loop, when its shard has space. The client's next request waits until
     * then. The writes of one turn of the loop share an fsync.
     */
    void write(DocumentName name, Consumer<DocumentService> change) {
        List<DocumentName> names = List.of(name);
        apply(
                names,
                documents -> {
                    documents.willWrite(loop(), names);
                    change.accept(documents);
                },
                () -> write(name, change));
    }

    /**
     * Runs a write that takes a long time or must read values, on a reading thread, when its shard has space. The write
     * must not wait for space on that thread, because it would hold the document's lock and thus delay writes on the
     * event loop.
     *
     * @param names the documents of the write; empty if they are not known yet, so that all shards must have space
     */
    void writeApart(Collection<DocumentName> names, Consumer<DocumentService> change) {
        Runnable attempt = () -> apply(names, change, () -> writeApart(names, change));
        protocol.readers.execute(untilEnd(() -> run(attempt)));
    }

    private void apply(Collection<DocumentName> names, Consumer<DocumentService> change, Runnable again) {
        DocumentService documents = documents();
        boolean tried = false;
        if (documents.writable(names)) {
            // The token may have been revoked since the request began.
            requireStillKnown();
            try {
                change.accept(documents);
                return;
            } catch (NotWritableException tooLarge) {
                // The write needs more space than the store has now, or other writes have taken the space.
                tried = true;
            }
        }
        documents.onWritable(names, loop(), tried, untilEnd(() -> run(again)));
    }

    /** Returns an outcome that sends the response to a write to these documents when the write is durable. */
    <T> Outcome<T> outcome(Collection<DocumentName> names, Function<T, Response> response) {
        DocumentService documents = documents();
        return new Outcome<>() {
            @Override
            public void success(T result) {
                // The store's thread must not send the response, because it has other callers to notify.
                loop().execute(() -> run(() -> respond(response.apply(result).withDurability(documents, names))));
            }

            @Override
            public void failure(RuntimeException problem) {
                fail(problem);
            }

            @Override
            public Runnable untilAbandoned(Runnable rest) {
                return untilEnd(rest);
            }
        };
    }

    /** Runs part of the work, on any thread. An exception ends the exchange; an {@link Error} is also rethrown. */
    void run(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException problem) {
            fail(problem);
        } catch (Error broken) {
            fail(broken);
            throw broken;
        }
    }

    /**
     * Wraps work that waits for a shared resource, such as a reading thread or space in the store. The wrapper runs the
     * work at most once, and drops the work when the exchange ends. Callable on any thread.
     */
    synchronized Runnable untilEnd(Runnable work) {
        if (waiting == null) {
            waiting = new WaitingTasks();
        }
        if (over) {
            waiting.close();
        }
        return waiting.add(work);
    }

    /** Runs the action on the event loop, or immediately if the current thread is the event loop's thread. */
    void onLoop(Runnable action) {
        if (loop().inEventLoop()) {
            action.run();
        } else {
            loop().execute(action);
        }
    }

    /**
     * Runs an action that writes or drops a part of a response, in the same way as {@link #onLoop(Runnable)}. Counts
     * the memory that the part holds until the action begins. Releases the part if the event loop has stopped.
     */
    void onLoop(ByteBuf part, int heldBytes, Runnable action) {
        if (loop().inEventLoop()) {
            action.run();
            return;
        }
        memory.holdReply(heldBytes);
        try {
            loop().execute(() -> {
                memory.holdReply(-heldBytes);
                action.run();
            });
        } catch (RejectedExecutionException stopped) {
            memory.holdReply(-heldBytes);
            part.release();
        }
    }

    /** Starts a streamed response. */
    void start(Response head) {
        if (!over) {
            send(head, null);
        }
    }

    /** Writes the next piece of the body, and releases it. */
    void write(ByteBuf piece) {
        if (over) {
            piece.release();
        } else {
            channel.writeAndFlush(new DefaultHttpContent(piece));
        }
    }

    /** Returns a buffer for a chunk of a streamed body; the caller adds the content, and calls {@link #endChunk}. */
    static ByteBuf beginChunk() {
        return ByteBufAllocator.DEFAULT.ioBuffer().setIndex(MAX_CHUNK_LENGTH_BYTES, MAX_CHUNK_LENGTH_BYTES);
    }

    /** Encodes a chunk, so that the responses of several clients can contain the same bytes. */
    static void endChunk(ByteBuf chunk) {
        String length = Integer.toHexString(chunk.readableBytes()) + LINE_END;
        int start = chunk.readerIndex() - length.length();
        chunk.setCharSequence(start, length, StandardCharsets.US_ASCII);
        chunk.writeCharSequence(LINE_END, StandardCharsets.US_ASCII);
        chunk.readerIndex(start);
    }

    /** Writes an encoded chunk, or only its content if the version of the request has no chunks, and releases it. */
    void writeChunk(ByteBuf chunk) {
        if (over) {
            chunk.release();
            return;
        }
        if (oldVersion()) {
            chunk.skipBytes(chunk.bytesBefore((byte) '\n') + 1).writerIndex(chunk.writerIndex() - LINE_END.length());
        }
        channel.writeAndFlush(chunk);
    }

    void finish() {
        if (!over) {
            if (oldVersion()) {
                resetWhenClosed(false);
            }
            channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            end();
        }
    }

    /** Whether the client has received enough of the earlier chunks for another one. */
    boolean writable() {
        return channel.isWritable();
    }

    /** Runs the action when the connection is writable, possibly immediately. A later call replaces the action. */
    void whenWritable(Runnable action) {
        onWritable = action;
        continueIfWritable();
    }

    /** Runs the action of {@link #whenWritable} if the connection is writable now. */
    void continueIfWritable() {
        Runnable action = onWritable;
        if (action != null && !over && writable()) {
            onWritable = null;
            action.run();
        }
    }

    /**
     * Begins a wait for new values. When the server stops or the client signals the end of its data, the action runs
     * and ends the response early. If this has happened already, the action runs immediately. Called on the event loop.
     */
    void waitForValues(Runnable drain) {
        memory.waitingFor(() -> System.nanoTime() - startedNanos);
        atEnd(() -> memory.waitingFor(() -> 0));
        onDrain = drain;
        connection.readMore();
        if (draining) {
            drain();
        }
    }

    boolean waitsForValues() {
        return onDrain != null && !over;
    }

    void drain() {
        draining = true;
        Runnable action = onDrain;
        if (action != null && !over) {
            action.run();
        }
    }

    /** Runs an action at the end of the exchange, or now if the exchange has ended. Called on the event loop. */
    void atEnd(Runnable action) {
        if (over) {
            action.run();
        } else {
            endActions.add(action);
        }
    }

    private void end() {
        end(HttpProtocol.outcome(status));
        connection.ended(keepAlive);
    }

    /** Ends the exchange, because the connection is closed. */
    void gone() {
        if (!over) {
            end(RequestOutcome.ABANDONED);
        }
    }

    private void end(RequestOutcome outcome) {
        synchronized (this) {
            over = true;
            if (waiting != null) {
                waiting.close();
            }
        }
        endActions.forEach(Runnable::run);
        protocol.count(operation, outcome, System.nanoTime() - startedNanos);
    }
}
