package io.caravan.torture.server;

import io.caravan.Shards;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.Lists;
import io.caravan.torture.model.StoreModel;
import io.caravan.torture.round.SmallStore;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSession;
import io.caravan.torture.round.TortureSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Tests a server in its own process, with RESP clients in this process. */
public final class ServerSubject implements TortureSubject {
    /** The lowest maximum value length that a server can be configured with. */
    private static final int MAX_VALUE_BYTES = 64 * 1024;

    private final TortureOptions options;
    private final int groups;
    private final String serverMain;
    private final Lists lists;

    /**
     * Creates a subject and the store of its server. The store is created first because a server has no options for
     * small segments, but keeps the segment sizes of an existing store.
     *
     * @param groups number of shards of the store
     * @param serverMain main class of the server: {@link ServerProcess#MAIN}, except in tests of the harness
     */
    public ServerSubject(TortureOptions options, int groups, String serverMain) {
        this.options = options;
        this.groups = groups;
        this.serverMain = serverMain;
        lists = new Lists(options.workers(), options.lists());
        Shards.open(SmallStore.config(options.store(), MAX_VALUE_BYTES), groups).close();
    }

    @Override
    public StoreModel newModel() {
        return new RespModel();
    }

    @Override
    public TortureSession work(Shift shift, Contents before) throws IOException {
        Ledger ledger = new Ledger(options.workers());
        return ServerSession.start(
                process(options.processLog()), new WritingClients(lists, shift, before, ledger), ledger);
    }

    @Override
    public TortureSession readOut(Shift shift) throws IOException {
        Ledger ledger = new Ledger(options.workers());
        return ServerSession.start(process(options.processLog()), new ReadingClient(lists, ledger), ledger);
    }

    @Override
    public String intrude(Shift shift) throws IOException {
        try (ServerProcess second = process(options.intruderLog())) {
            second.start();
            int status = second.awaitExit();
            return (status == 0 ? "it exited with status 0, and printed: " : "") + second.output();
        }
    }

    private ServerProcess process(Path log) {
        List<String> limits = List.of(
                "--shards",
                Integer.toString(groups),
                "--max-value",
                Integer.toString(MAX_VALUE_BYTES),
                "--checkpoint-floor",
                Long.toString(SmallStore.CHECKPOINT_FLOOR_BYTES));
        return new ServerProcess(serverMain, options.store(), log, limits, Map.of());
    }

    @Override
    public void close() {}
}
