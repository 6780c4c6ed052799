package io.caravan.torture.server;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.Lists;
import io.caravan.torture.round.TortureSubject.Shift;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Manages many connections, each of which writes to its own lists. */
final class WritingClients implements ServerSession.Clients {
    private final Lists lists;
    private final Shift shift;
    private final Contents before;
    private final Ledger ledger;
    private final List<RespWorker> workers = new CopyOnWriteArrayList<>();
    private volatile boolean ending;

    /**
     * Creates clients without connecting them.
     *
     * @param before the contents of the store
     */
    WritingClients(Lists lists, Shift shift, Contents before, Ledger ledger) {
        this.lists = lists;
        this.shift = shift;
        this.before = before;
        this.ledger = ledger;
    }

    @Override
    public void begin(InetSocketAddress server) throws IOException {
        for (int worker = 0; worker < lists.workers(); worker++) {
            workers.add(new RespWorker(worker, lists, shift, before, ledger, server, () -> ending));
        }
        workers.forEach(RespWorker::start);
    }

    @Override
    public void oneAtATime(Duration timeout) throws IOException, InterruptedException {
        workers.forEach(RespWorker::oneAtATime);
        for (RespWorker worker : workers) {
            worker.awaitOneAtATime(timeout);
        }
    }

    @Override
    public void expectEnd() {
        ending = true;
    }

    @Override
    public void awaitEnd(Duration timeout) throws IOException, InterruptedException {
        for (RespWorker worker : workers) {
            worker.awaitEnd(timeout);
        }
    }
}
