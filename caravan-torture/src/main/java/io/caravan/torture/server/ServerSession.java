package io.caravan.torture.server;

import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.round.TortureSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A session with a server in its own process, and with clients in this process. */
final class ServerSession extends TortureSession {
    private static final Pattern REPLAYED = Pattern.compile(" (\\d+) frames replayed,");

    /** The clients that use a server during a session. */
    interface Clients {

        /** Starts the clients; returns when all of them are connected, or have read everything. */
        void begin(InetSocketAddress server) throws IOException;

        /** Makes clients wait for each reply before the next request; see {@link TortureSession#oneAtATime()}. */
        default void oneAtATime(Duration timeout) throws IOException, InterruptedException {}

        /** Stops the clients from reporting lost connections. */
        default void expectEnd() {}

        /** Waits until all connections have ended and all received replies have been handled. */
        default void awaitEnd(Duration timeout) throws IOException, InterruptedException {}
    }

    private final ServerProcess process;
    private final Clients clients;
    private final Thread driver = new Thread(this::drive, "clients");
    private volatile boolean ending;

    private ServerSession(ServerProcess process, Clients clients, Ledger ledger) {
        super("the server", ledger);
        this.process = process;
        this.clients = clients;
    }

    /** Starts a server and, once it listens, the clients that use it. */
    static ServerSession start(ServerProcess process, Clients clients, Ledger ledger) throws IOException {
        process.start();
        ServerSession session = new ServerSession(process, clients, ledger);
        session.driver.setDaemon(true);
        session.driver.start();
        return session;
    }

    private void drive() {
        try {
            InetSocketAddress address = process.awaitAddress();
            ledger().openNanos = nanosSinceStart();
            ledger().replayedFrames = replayedFrames();
            clients.begin(address);
        } catch (IOException problem) {
            if (!ending) {
                ledger().problem("the clients cannot work: " + problem);
            }
        } finally {
            ledger().reachMilestone();
        }
    }

    /** Returns the number of frames that all shards of the store have replayed. */
    private long replayedFrames() throws IOException {
        List<MatchResult> replayed =
                REPLAYED.matcher(process.output()).results().toList();
        if (replayed.isEmpty()) {
            ledger().problem("the log of the server does not contain the number of replayed frames");
            return Ledger.UNKNOWN;
        }
        return replayed.stream()
                .mapToLong(each -> Long.parseLong(each.group(1)))
                .sum();
    }

    @Override
    public void oneAtATime() throws IOException, InterruptedException {
        clients.oneAtATime(TIMEOUT);
    }

    @Override
    public void pause() throws IOException {
        process.pause();
    }

    @Override
    public void resume() throws IOException {
        process.resume();
    }

    @Override
    public void kill() throws IOException, InterruptedException {
        expectEnd();
        joinClients(process.kill(), ChildJvm.KILLED);
    }

    /** Stops the server with SIGTERM while its clients continue as long as they can. */
    @Override
    public void stop() throws IOException, InterruptedException {
        expectEnd();
        joinClients(process.terminate(), 0);
    }

    private void expectEnd() {
        ending = true;
        clients.expectEnd();
    }

    private void joinClients(int status, int expectedStatus) throws IOException, InterruptedException {
        driver.join(TIMEOUT.toMillis());
        clients.awaitEnd(TIMEOUT);
        checkExit(status, expectedStatus);
    }

    @Override
    public void close() {
        process.explainIfAlive();
        process.close();
    }
}
