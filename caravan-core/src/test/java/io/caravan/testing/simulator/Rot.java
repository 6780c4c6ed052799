package io.caravan.testing.simulator;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.engine.Engine;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Damages a durable byte. The store must then be correct or report the damage, and one bad checkpoint of two must not
 * prevent opening. Only damage to the last frame is indistinguishable from a torn tail.
 */
final class Rot {
    private final Simulation simulation;
    private final SplittableRandom random;
    private final History history;
    private final long certain;

    /**
     * Prepares a check of the storage that a cut has left.
     *
     * @param certain the number of writes that this state must contain
     */
    Rot(Simulation simulation, SplittableRandom random, History history, long certain) {
        this.simulation = simulation;
        this.random = random;
        this.history = history;
        this.certain = certain;
    }

    void check(CrashStorage disk) {
        List<String> files =
                disk.list().stream().filter(name -> disk.size(name) > 0).toList();
        if (files.isEmpty()) {
            return;
        }
        Place place = random.nextInt(4) == 0 ? lastFrame(disk, files) : anywhere(disk, files);
        String file = place.file();
        int offset = place.offset();
        boolean log = FileNames.LOG.number(file).isPresent();
        boolean checkpoint = FileNames.CHECKPOINT.number(file).isPresent();
        boolean mayReject = log
                || FileNames.HEAP.number(file).isPresent() && offset < Blocks.BLOCK_BYTES
                || checkpoint && checkpoints(files) == 1;
        disk.rot(file, offset, 1 << random.nextInt(Byte.SIZE));
        simulation.story().note(() -> "and " + file + " has rotted at " + offset);
        Engine engine = open(disk, mayReject);
        if (engine != null) {
            read(engine, log ? history.certainWithoutLastFrame() : certain, file);
        }
    }

    /** The position of a byte in a file. */
    private record Place(String file, int offset) {}

    private Place anywhere(CrashStorage disk, List<String> files) {
        String file = files.get(random.nextInt(files.size()));
        return new Place(file, random.nextInt(disk.size(file)));
    }

    /** Returns a place in the last frame, where damage looks like a torn tail. Random offsets rarely hit it. */
    private Place lastFrame(CrashStorage disk, List<String> files) {
        Place last = anywhere(disk, files);
        long lastLsn = -1;
        for (String file : files) {
            if (FileNames.LOG.number(file).isPresent()) {
                ByteBuffer bytes = ByteBuffer.wrap(disk.visible(file)).order(ByteOrder.LITTLE_ENDIAN);
                for (int at = Blocks.BLOCK_BYTES; at < bytes.limit(); at += Blocks.BLOCK_BYTES) {
                    if (FrameLayout.magicAt(bytes, at) && bytes.getLong(at + FrameLayout.LSN) > lastLsn) {
                        lastLsn = bytes.getLong(at + FrameLayout.LSN);
                        last = new Place(file, at + FrameLayout.CRC);
                    }
                }
            }
        }
        return last;
    }

    private static long checkpoints(List<String> files) {
        return files.stream()
                .filter(name -> FileNames.CHECKPOINT.number(name).isPresent())
                .count();
    }

    private Engine open(CrashStorage disk, boolean mayReject) {
        try {
            return simulation.open(disk);
        } catch (IOException | CaravanException rejected) {
            if (!mayReject || !(rejected instanceof CaravanException)) {
                throw new SimulationFailure("does not open", rejected);
            }
            return null;
        }
    }

    private void read(Engine engine, long least, String file) {
        try {
            history.matching(StoreContents.of(engine), least);
        } catch (CorruptStoreException named) {
            if (!named.file().endsWith(file)) {
                throw new SimulationFailure("names another file than " + file, named);
            }
        }
    }
}
