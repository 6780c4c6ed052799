package io.caravan.testing.simulator;

import io.caravan.ListStore;
import io.caravan.engine.Engine;
import io.caravan.engine.Worker;
import java.util.SplittableRandom;

/**
 * Simulates an event loop of the server, which uses the store in turns. A turn usually opens a write group and ends
 * with the flush of that group. Some turns are long, some write nothing, and some write without a group.
 */
final class EventLoop {
    /** The duration of a long turn, which exceeds the time for which the store waits for a group to be closed. */
    private static final long LONG_NANOS = 1_500_000;

    private static final int EMPTY_TURNS = 4;
    private static final int MANY_SWITCHES = 16;

    private final StoreRun run;
    private final Engine engine;
    private final Client client;
    private final SplittableRandom random;

    EventLoop(StoreRun run, Engine engine, Client client, SplittableRandom random) {
        this.run = run;
        this.engine = engine;
        this.client = client;
        this.random = random;
    }

    /** Performs a turn of a random kind, and returns how long to rest, as {@link Worker.Step} does. */
    long turn() {
        switch (random.nextInt(4)) {
            case 0 -> act();
            case 1 -> longTurn();
            case 2 -> emptyTurns();
            default -> {
                letOthersContinue();
                act();
            }
        }
        return Worker.UNTIL_WOKEN;
    }

    private boolean over() {
        return run.silent() || run.closing() || client.storeFailed();
    }

    private void act() {
        if (!over()) {
            client.act(false);
        }
    }

    private void longTurn() {
        if (over()) {
            return;
        }
        ListStore.WriteGroup group = engine.group();
        if (!over()) {
            client.write();
        }
        run.scheduler().letTimePass(LONG_NANOS);
        letOthersContinue();
        group.closeAndFlush();
    }

    private void emptyTurns() {
        for (int i = 0; i < EMPTY_TURNS && !over(); i++) {
            engine.group().closeAndFlush();
        }
    }

    private void letOthersContinue() {
        for (int i = random.nextInt(MANY_SWITCHES); i > 0 && !over(); i--) {
            run.scheduler().letAnotherContinue();
        }
    }
}
