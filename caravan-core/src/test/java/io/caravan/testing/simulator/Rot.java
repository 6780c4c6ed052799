package io.caravan.testing.simulator;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.engine.Engine;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Damages a byte that was safely on the disk. The store must then be right, or say what is wrong; and one bad
 * checkpoint of two must not keep it from opening. Only the log's very last frame cannot be told from a torn tail.
 */
final class Rot {
    private final Simulation simulation;
    private final SplittableRandom random;
    private final History history;

    Rot(Simulation simulation, SplittableRandom random, History history) {
        this.simulation = simulation;
        this.random = random;
        this.history = history;
    }

    void check(CrashStorage disk) {
        List<String> files =
                disk.list().stream().filter(name -> disk.size(name) > 0).toList();
        if (files.isEmpty()) {
            return;
        }
        String file = files.get(random.nextInt(files.size()));
        int offset = random.nextInt(disk.size(file));
        boolean log = FileNames.LOG.number(file).isPresent();
        boolean checkpoint = FileNames.CHECKPOINT.number(file).isPresent();
        boolean mayRefuse = log
                || FileNames.HEAP.number(file).isPresent() && offset < Blocks.BLOCK_BYTES
                || checkpoint && checkpoints(files) == 1;
        disk.rot(file, offset, 1 << random.nextInt(Byte.SIZE));
        simulation.story().note(() -> "and " + file + " has rotted at " + offset);
        Engine engine = open(disk, mayRefuse);
        if (engine != null) {
            read(engine, log ? history.certainWithoutLastFrame() : history.certain(), file);
        }
    }

    private static long checkpoints(List<String> files) {
        return files.stream()
                .filter(name -> FileNames.CHECKPOINT.number(name).isPresent())
                .count();
    }

    private Engine open(CrashStorage disk, boolean mayRefuse) {
        try {
            return simulation.open(disk);
        } catch (IOException | CaravanException refused) {
            if (!mayRefuse || !(refused instanceof CaravanException)) {
                throw new SimulationFailure("does not open", refused);
            }
            return null;
        }
    }

    private void read(Engine engine, long least, String file) {
        try {
            history.matching(StoreContents.of(engine), least);
        } catch (CorruptStoreException named) {
            if (!named.file().endsWith(file) && !overwritten(named.file(), file)) {
                throw new SimulationFailure("names another file than " + file, named);
            }
        }
    }

    /**
     * A log whose last frame has rotted ends before it. What that frame dropped comes back, and its place in the heap may
     * have been taken since by what a checkpoint moved there, which no frame tells.
     */
    private static boolean overwritten(String named, String rotten) {
        return FileNames.LOG.number(rotten).isPresent() && named.contains("heap-");
    }
}
