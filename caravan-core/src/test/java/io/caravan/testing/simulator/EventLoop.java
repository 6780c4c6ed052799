package io.caravan.testing.simulator;

import io.caravan.ListStore;
import io.caravan.engine.Engine;
import io.caravan.engine.Worker;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A thread that uses the simulated store in turns, as the server's event loops do: a turn opens a group of writes, and
 * ends with its flush. Some turns are long, some write nothing.
 */
final class EventLoop {
    /** Longer than the store waits for a group to end. */
    private static final long LONG_NANOS = 1_500_000;

    private final Life life;
    private final Engine engine;
    private final Client client;
    private final SplittableRandom random;
    private ListStore.@Nullable Group open;

    EventLoop(Life life, Engine engine, Client client, SplittableRandom random) {
        this.life = life;
        this.engine = engine;
        this.client = client;
        this.random = random;
    }

    /** A part of a turn; see {@link Worker.Step}. */
    long turn() {
        if (life.silent() || life.closing() || client.storeFailed()) {
            return Worker.UNTIL_WOKEN;
        }
        if (open == null) {
            open = engine.group();
        }
        if (random.nextBoolean()) {
            client.act(false);
        }
        if (random.nextInt(3) == 0) {
            life.threading().letTimePass(LONG_NANOS);
        } else {
            ListStore.Group ending = open;
            open = null;
            ending.closeAndFlush();
        }
        return Worker.UNTIL_WOKEN;
    }
}
