package io.caravan.torture.embedded;

import io.caravan.DurableListStore;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.torture.model.Lists;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The main class of the child process, which the supervisor kills. It opens the store, works on the store or reports
 * its contents, and closes the store when standard input ends, unless it is killed first.
 */
public final class TortureChild {
    private final ChildPlan plan;
    private final Reporter reporter;

    private TortureChild(ChildPlan plan, Reporter reporter) {
        this.plan = plan;
        this.reporter = reporter;
    }

    /** Runs the child with a real store. */
    public static void main(String[] arguments) throws IOException {
        run(arguments, DurableListStore::open);
    }

    /** Runs the child with a store from {@code opener}. */
    public static void run(String[] arguments, Function<StoreConfig, ListStore> opener) throws IOException {
        ChildPlan plan = ChildPlan.parse(arguments);
        try (SocketChannel channel = LocalSocket.connect(plan.socket())) {
            Reporter reporter = new Reporter(channel);
            new TortureChild(plan, reporter).run(opener);
        }
    }

    private void run(Function<StoreConfig, ListStore> opener) {
        try {
            runAndClose(opener);
            reporter.closed();
        } catch (RuntimeException | IOException | InterruptedException problem) {
            reporter.problem("the child process failed", problem);
        }
    }

    private void runAndClose(Function<StoreConfig, ListStore> opener) throws IOException, InterruptedException {
        long start = System.nanoTime();
        ListStore store = opener.apply(plan.config());
        try (store) {
            reporter.opened(System.nanoTime() - start);
            if (plan.work()) {
                work(store);
            } else {
                report(store);
                awaitEndOfInput();
            }
        }
        checkFailures(store);
    }

    /**
     * Reports any failures of the store. A store may fail while no caller waits for it, and then close normally.
     * Rejections for lack of space also count as failures.
     */
    private void checkFailures(ListStore store) {
        long failures = store.stats().failures();
        if (failures > 0 && !plan.shift().smallDisk()) {
            reporter.problem("the closed store counted " + failures + " failures; see the child's output");
        }
    }

    private void work(ListStore store) throws IOException, InterruptedException {
        Lists lists = new Lists(plan.workers(), plan.lists());
        List<EmbeddedWorker> workers = new ArrayList<>();
        for (int i = 0; i < plan.workers(); i++) {
            workers.add(new EmbeddedWorker(plan, i, lists, store, reporter));
        }
        workers.forEach(EmbeddedWorker::start);
        awaitEndOfInput();
        workers.forEach(EmbeddedWorker::requestStop);
        for (EmbeddedWorker worker : workers) {
            worker.join();
        }
    }

    private void report(ListStore store) {
        List<Long> ids = new ArrayList<>();
        store.forEachList(ids::add);
        for (long id : ids) {
            ListInfo info = store.info(id);
            if (info == null) {
                reporter.problem("list " + id + " is reported by forEachList, but has no info");
            } else {
                reporter.list(info, store.read(id));
            }
        }
        reporter.listed();
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // The supervisor never sends anything; only the end of the input matters.
        }
    }
}
