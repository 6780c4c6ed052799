package io.caravan.engine;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.values;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Seeds;
import io.caravan.testing.Value;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An engine with its own threads on a disk that crashes. Everything acknowledged survives. */
class CrashStorageEngineTest {
    private static final StoreConfig CONFIG =
            FaultyStore.small().checkpointFloorBytes(20_000).build();
    private static final int SEEDS = 25;
    private static final int GENERATIONS = 5;
    private static final int MOST_APPENDS = 60;
    private static final int MOST_BYTES = 2000;
    private static final int CRASHES_PER_KILL = 4;
    private static final int LIST = 1;

    private static final class Acknowledged implements WriteCallback {
        final AtomicInteger count = new AtomicInteger();

        @Override
        public void success(long sequence) {
            count.set((int) sequence + 1);
        }

        @Override
        public void failure(CaravanException problem) {}
    }

    private final List<Value> appended = new ArrayList<>();
    private final Acknowledged acknowledged = new Acknowledged();
    /** The number of values that were acknowledged when the last crash began. */
    private int atLeast;

    @Test
    void whatWasAcknowledgedBeforeAPowerCutOrAKillIsThere() {
        Seeds.forEach(SEEDS, seed -> {
            appended.clear();
            atLeast = 0;
            SplittableRandom choices = new SplittableRandom(seed);
            CrashStorage storage = new CrashStorage(seed);
            for (int generation = 0; generation < GENERATIONS; generation++) {
                storage = nextGeneration(storage, choices);
            }
        });
    }

    /** Opens, checks, and uses the store. Returns the storage that a crash during that leaves. */
    private CrashStorage nextGeneration(CrashStorage storage, SplittableRandom choices) throws IOException {
        try (Engine engine = Engine.open(CONFIG, storage, System::nanoTime)) {
            checkAgainstWhatWasAppended(values(engine, LIST), storage.survived());
            append(engine, choices);
            return crash(storage, choices);
        }
    }

    private void checkAgainstWhatWasAppended(List<Value> there, String survived) {
        assertThat(there.size()).as(survived).isBetween(atLeast, appended.size());
        assertThat(there).as(survived).isEqualTo(appended.subList(0, there.size()));
        appended.subList(there.size(), appended.size()).clear();
        acknowledged.count.set(there.size());
    }

    private void append(Engine engine, SplittableRandom choices) {
        for (int count = choices.nextInt(MOST_APPENDS); count > 0; count--) {
            byte[] value = bytes(choices.nextInt(MOST_BYTES), appended.size());
            appended.add(Value.of(appended.size(), value));
            engine.append(LIST, value, acknowledged);
        }
    }

    private CrashStorage crash(CrashStorage storage, SplittableRandom choices) {
        atLeast = acknowledged.count.get();
        return choices.nextInt(CRASHES_PER_KILL) == 0 ? storage.processKill() : storage.powerCut(choices);
    }
}
