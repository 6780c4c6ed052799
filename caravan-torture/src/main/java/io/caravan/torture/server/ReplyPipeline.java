package io.caravan.torture.server;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Assigns replies to requests on a connection whose replies arrive in the order of the requests. One thread sends the
 * requests, and the pipeline's own thread receives the replies.
 *
 * @param <R> the type of a reply
 */
public final class ReplyPipeline<R> {
    private static final long TIMEOUT_SECONDS = 60;

    @FunctionalInterface
    public interface Source<R> {
        /** Returns the next reply, or null at the end of the connection. */
        @Nullable
        R next() throws IOException;
    }

    /** Receives the outcome of one request. */
    public interface Receiver<R> {
        void reply(R reply);

        /** Reports that the connection was closed before the reply arrived. */
        void lost(String why);
    }

    private final Source<R> source;
    private final BlockingQueue<Receiver<R>> waiting = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile boolean ended;
    private volatile boolean abandoned;

    public ReplyPipeline(Source<R> source) {
        this.source = source;
        thread = new Thread(this::receive, "replies");
        thread.setDaemon(true);
        thread.start();
    }

    /** Registers the receiver of the next request's reply. Must be called before the request is sent. */
    public void expect(Receiver<R> receiver) {
        waiting.add(receiver);
        if (ended) {
            loseAll("the connection is closed");
        }
    }

    /** Sends the request and waits for its reply. */
    public R call(Request request) throws IOException {
        CompletableFuture<R> reply = new CompletableFuture<>();
        expect(new Receiver<>() {
            @Override
            public void reply(R value) {
                reply.complete(value);
            }

            @Override
            public void lost(String why) {
                reply.completeExceptionally(new IOException(why));
            }
        });
        request.send();
        try {
            return reply.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException lost) {
            throw new IOException(lost.getCause());
        } catch (TimeoutException late) {
            throw new IOException("no reply in " + TIMEOUT_SECONDS + " s", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a reply", interrupted);
        }
    }

    public interface Request {
        void send() throws IOException;
    }

    /** Marks the loss of the connection as expected. From now on, the loss is not reported to waiting receivers. */
    public void abandon() {
        abandoned = true;
    }

    /** Waits, for at most 60 s, until the connection has ended and each received reply has been delivered. */
    public void awaitEnd() throws IOException {
        try {
            thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the last replies", interrupted);
        }
    }

    private void receive() {
        String why = "the connection was closed";
        try {
            for (R reply = source.next(); reply != null; reply = source.next()) {
                Receiver<R> receiver = waiting.poll();
                if (receiver == null) {
                    throw new IOException("a reply without a request: " + reply);
                }
                receiver.reply(reply);
            }
        } catch (IOException problem) {
            why = "the connection was lost: " + problem;
        } finally {
            ended = true;
            loseAll(why);
        }
    }

    private void loseAll(String why) {
        for (Receiver<R> receiver = waiting.poll(); receiver != null; receiver = waiting.poll()) {
            if (!abandoned) {
                receiver.lost(why);
            }
        }
    }
}
