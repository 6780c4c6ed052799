package io.caravan.torture.server;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.Lists;
import io.caravan.torture.round.IntentGenerator;
import io.caravan.torture.round.TortureSubject.Shift;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Writes to its own lists over one connection to the server under test, with many outstanding requests, and checks its
 * reads.
 *
 * <p>Replies arrive in the order of the requests, and a read sees every write before it and none after it. The model
 * follows the replies, so when the reply to a read arrives, the model contains exactly the expected result.
 */
final class RespWorker {
    /** The server's reply to requests that arrive while it is stopping. */
    private static final String STOPPING = "ERR the server is stopping";

    private static final String NO_SPACE = "OOM ";

    private static final int MAX_AHEAD = 64;
    private static final int MAX_BURST = 8;
    private static final long MAX_PAUSE_NANOS = 3_000_000;

    private final String name;
    private final Ledger ledger;
    /** The expected contents of the connection's own lists, updated with each reply; guarded by its own monitor. */
    private final RespModel model;

    private final RespCommands commands;
    private final BooleanSupplier ending;
    private final RespConnection connection;
    private final ReplyPipeline<Reply> replies;
    private final SplittableRandom random;
    private final IntentGenerator generator;
    private final RespReads reads;
    private final Thread thread;
    private final AtomicBoolean lost = new AtomicBoolean();
    /** The maximum number of outstanding requests. Guarded by this. */
    private int maxAhead = MAX_AHEAD;
    /** The number of outstanding requests. Guarded by this. */
    private int ahead;

    /**
     * Connects to the server.
     *
     * @param before the contents of the store
     * @param ending whether losing the connection is expected
     */
    RespWorker(
            int index,
            Lists lists,
            Shift shift,
            Contents before,
            Ledger ledger,
            InetSocketAddress server,
            BooleanSupplier ending)
            throws IOException {
        this.ending = ending;
        name = "connection " + index;
        this.ledger = ledger;
        commands = new RespCommands(lists);
        connection = new RespConnection(server);
        replies = new ReplyPipeline<>(connection::receive);
        random = new SplittableRandom(shift.seedOf(index));
        model = RespModel.copy(before, lists.of(index));
        reads = new RespReads(index, lists, random, this);
        generator = new RespIntents(random, model, lists.of(index), shift, index);
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (!ending.getAsBoolean()) {
                burst();
            }
        } catch (IOException lost) {
            lost("it cannot send: " + lost);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void burst() throws IOException, InterruptedException {
        for (int left = 1 + random.nextInt(MAX_BURST); left > 0; left--) {
            awaitRoom();
            if (random.nextInt(10) > 0) {
                change();
            } else {
                reads.next();
            }
        }
        connection.flush();
        if (random.nextInt(100) == 0) {
            LockSupport.parkNanos(random.nextLong(MAX_PAUSE_NANOS));
        }
    }

    private void change() throws IOException {
        Intent intent = from(any -> generator.next());
        ledger.intend(intent);
        send(reply -> completed(intent, reply), commands.of(intent));
    }

    /** Computes a result from the current state of the model, which changes with each reply. */
    <T> T from(Function<RespModel, T> computation) {
        synchronized (model) {
            return computation.apply(model);
        }
    }

    /** Records the server's reply to a change. */
    private void completed(Intent intent, Reply reply) {
        String error = reply.error();
        if (error != null && error.startsWith(NO_SPACE)) {
            ledger.rejectedForSpace(intent, error);
        } else if (error != null || reply.text() == null) {
            problem("requested " + intent + " and got the reply " + reply.words());
        } else {
            synchronized (model) {
                model.apply(intent);
            }
            ledger.acknowledged(intent, reply.text().equals("OK") ? RespModel.OK : Long.parseLong(reply.text()));
        }
    }

    void problem(String words) {
        ledger.problem(name + " " + words);
    }

    Ledger ledger() {
        return ledger;
    }

    interface Judge {
        void judge(Reply reply);
    }

    void send(Judge judge, byte[]... words) throws IOException {
        replies.expect(new ReplyPipeline.Receiver<>() {
            @Override
            public void reply(Reply reply) {
                if (STOPPING.equals(reply.error())) {
                    RespWorker.this.lost("the server stops");
                } else {
                    judge.judge(reply);
                }
                completed();
            }

            @Override
            public void lost(String why) {
                RespWorker.this.lost(why);
                completed();
            }
        });
        connection.write(words);
    }

    private void awaitRoom() throws IOException, InterruptedException {
        synchronized (this) {
            if (ahead < maxAhead) {
                ahead++;
                return;
            }
        }
        connection.flush();
        synchronized (this) {
            while (ahead >= maxAhead) {
                wait();
            }
            ahead++;
        }
    }

    private synchronized void completed() {
        ahead--;
        notifyAll();
    }

    /** Reports an unexpected loss of the connection, at most once. */
    private void lost(String why) {
        if (!ending.getAsBoolean() && !lost.getAndSet(true)) {
            problem("lost: " + why);
        }
    }

    /** Makes each further request wait for the reply to the previous one. */
    synchronized void oneAtATime() {
        maxAhead = 1;
    }

    /** Waits until {@link #oneAtATime()} has taken effect. */
    synchronized void awaitOneAtATime(Duration timeout) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (ahead > 1) {
            if (System.nanoTime() > deadline) {
                throw new IOException(name + " got no reply within " + timeout.toSeconds() + " s");
            }
            wait(timeout.toMillis());
        }
    }

    /** Waits until every reply that has arrived has been handled. */
    void awaitEnd(Duration timeout) throws IOException, InterruptedException {
        thread.join(timeout.toMillis());
        replies.awaitEnd();
        connection.close();
    }
}
