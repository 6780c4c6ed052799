package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Blocks;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Seeds;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Invariant 6: a block that contains an acknowledged frame is never written again. According to the record of all
 * calls, no fsynced block of a log file is written again until the file is renamed.
 */
@LongTimeout
class Invariant06AcknowledgedBlocksAreNeverRewrittenTest {

    /** The blocks of one file that have been written, and those that have been fsynced, since its last rename. */
    private static final class Blocked {
        final BitSet written = new BitSet();
        final BitSet forced = new BitSet();
    }

    private static List<Call> rewrites(List<Call> calls) {
        Map<Integer, Blocked> files = new HashMap<>();
        List<Call> rewrites = new ArrayList<>();
        for (Call call : calls) {
            Blocked file = files.computeIfAbsent(call.fileNumber(), unseen -> new Blocked());
            switch (call.kind()) {
                case WRITE -> {
                    int from = (int) (call.position() / Blocks.BLOCK_BYTES);
                    int to = Math.toIntExact(Blocks.roundUp(call.position() + call.bytes()) / Blocks.BLOCK_BYTES);
                    int rewritten = file.forced.nextSetBit(from);
                    if (call.file().matches(LOG) && rewritten >= 0 && rewritten < to) {
                        rewrites.add(call);
                    }
                    file.written.set(from, to);
                }
                case FORCE -> file.forced.or(file.written);
                case RENAME -> {
                    // Discards the earlier writes: those of a recycled segment, or the header of a new one.
                    if (call.file().matches(LOG)) {
                        files.put(call.fileNumber(), new Blocked());
                    }
                }
                default -> {}
            }
        }
        return rewrites;
    }

    @Test
    void neverRewritesFsyncedLogBlock() {
        Seeds.forEach(4, seed -> {
            FaultyStore store = FaultyStore.open();
            ModelLists model = new ModelLists(FaultyStore.MAX_VALUE_BYTES);
            RandomOperations operations = new RandomOperations(seed, new RandomOperations.Shape(20, 3000, 4000), model);
            for (int round = 0; round < 6; round++) {
                new ModelRun(store.engine, model, same -> same).run(operations, 200);
                assertThat(rewrites(store.faults.calls())).isEmpty();
                assertThat(store.faults.calls(call -> call.file().matches(LOG) && call.position() > 0))
                        .as("writes of frames")
                        .hasSizeGreaterThan(5);
                store.engine.flush();
                FaultyStore next = switch (round % 3) {
                    case 0 -> store.afterPowerCut();
                    case 1 -> store.afterKill();
                    default -> reopened(store);
                };
                store.close();
                store = next;
            }
            store.close();
        });
    }

    private static FaultyStore reopened(FaultyStore store) {
        store.engine.close();
        return FaultyStore.open(store.config, store.disk);
    }

    /** Checks that a store that opens after a power cut does not write to blocks that were fsynced before it. */
    @Test
    void framesFsyncedBeforePowerCutAreNotRewritten() {
        try (FaultyStore store = FaultyStore.open()) {
            for (int i = 0; i < 5; i++) {
                io.caravan.testing.StoreCalls.append(store.engine, 1, "value " + i);
            }
            String before = store.allBytes(LOG);
            try (FaultyStore cut = store.afterPowerCut()) {
                io.caravan.testing.StoreCalls.append(cut.engine, 1, "after the cut");
                String first = FaultyStore.latin1(cut.disk.bytes(cut.files(LOG).get(0)));
                int forcedBytes = 3 * Blocks.BLOCK_BYTES;
                assertThat(first.substring(0, forcedBytes)).isEqualTo(before.substring(0, forcedBytes));
            }
        }
    }
}
