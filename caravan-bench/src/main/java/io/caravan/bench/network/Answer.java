package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Waits for a successful response; counts its body and discards it. */
final class Answer implements ResponseListener {
    private static final long PATIENCE_SECONDS = 120;
    private static final int SUCCESS_CLASS = 2;
    private static final int CLASS_SIZE = 100;

    private final CompletableFuture<HttpHeaders> done = new CompletableFuture<>();
    private @Nullable HttpResponse head;
    private volatile long bytes;

    /** Whether the status is a success. */
    static boolean isSuccess(HttpResponse head) {
        return head.status().code() / CLASS_SIZE == SUCCESS_CLASS;
    }

    @Override
    public void head(HttpResponse response) {
        head = response;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only the event loop writes it
    @Override
    public void body(ByteBuf part) {
        bytes += part.readableBytes();
    }

    @Override
    public void end() {
        HttpResponse response = Objects.requireNonNull(head);
        if (isSuccess(response)) {
            done.complete(response.headers());
        } else {
            lost("the server answered " + response.status());
        }
    }

    @Override
    public void lost(String why) {
        done.completeExceptionally(new IOException(why));
    }

    /** Waits for the end of the response, and returns its headers. Do not call it on an event loop. */
    HttpHeaders await() throws IOException, InterruptedException {
        try {
            return done.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException problem) {
            throw new IOException("a request failed", problem.getCause());
        } catch (TimeoutException late) {
            throw new IOException("no answer in " + PATIENCE_SECONDS + " s", late);
        }
    }

    /** Length of the body so far. */
    long bytes() {
        return bytes;
    }
}
