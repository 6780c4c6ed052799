package io.caravan.testing.simulator;

import io.caravan.CaravanException;
import io.caravan.StoreStats;
import io.caravan.VerifyReport;
import io.caravan.engine.Engine;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.StoreContents;
import io.caravan.testing.Value;
import java.io.IOException;
import java.util.SplittableRandom;

/**
 * Checks the store that a cut leaves: opens it, possibly with another cut during the opening, compares it with the
 * history, and verifies it.
 */
final class Reopening implements CrashStorage.Director {
    private static final int MAX_DEPTH = 3;

    private final Simulation simulation;
    private final Story story;
    private final SplittableRandom random;
    private History history;
    private int depth;
    private CrashStorage disk;
    /** Whether the power has been cut since the history began. */
    private boolean powerLost;

    private boolean full;
    private boolean roomForCheckpoints;

    Reopening(Simulation simulation, SplittableRandom random, History history, boolean powerLost) {
        this.simulation = simulation;
        this.story = simulation.story();
        this.random = random;
        this.history = history;
        this.powerLost = powerLost;
    }

    /**
     * Simulates a cut at this moment, and checks the store that it leaves.
     *
     * @param mayRot whether a byte of the remains may also be damaged
     */
    void afterCutOf(CrashStorage storage, boolean mayRot) {
        cut(storage);
        story.enter();
        if (mayRot && random.nextInt(16) == 0) {
            new Rot(simulation, random, history, history.certain(powerLost)).check(disk);
        } else {
            check();
        }
        story.leave();
    }

    private void cutAgain(CrashStorage storage) {
        if (depth < MAX_DEPTH) {
            Reopening next = new Reopening(simulation, random.split(), history, powerLost);
            next.depth = depth + 1;
            next.afterCutOf(storage, false);
        }
    }

    private void cut(CrashStorage storage) {
        boolean power = simulation.mayLosePower() && random.nextInt(8) != 0;
        powerLost |= power;
        disk = power ? storage.powerCut(random) : storage.processKill();
        simulation.countCut();
        story.note(() -> power ? "what if the power is cut? " + disk.survived() : "what if the process is killed?");
    }

    private void check() {
        full = random.nextInt(16) == 0 && disk.list().contains(FileNames.CHECKPOINT.of(0));
        roomForCheckpoints = random.nextBoolean();
        disk.director(this);
        SimulatedClock clock = new SimulatedClock();
        SimulatedScheduler scheduler = new SimulatedScheduler(random, clock);
        try {
            Engine engine = Engine.open(simulation.config(), disk, clock, scheduler);
            StoreContents found = StoreContents.of(engine);
            history = history.matching(found, history.certain(powerLost));
            powerLost = false;
            checkHeap(engine.stats(), found);
            resume(engine);
        } catch (IOException | CaravanException rejected) {
            throw new SimulationFailure("what is left does not open" + (full ? " on a full disk" : ""), rejected);
        } catch (SimulationFailure failure) {
            throw failure;
        } catch (RuntimeException | Error broken) {
            throw new SimulationFailure("what is left breaks the store", broken);
        }
        simulation.checkNoFailure();
    }

    /**
     * Checks that the number of bytes in use in the heap equals the total size of the heap's live entries. Opening has
     * checked that regions do not overlap.
     */
    private static void checkHeap(StoreStats stats, StoreContents found) {
        long live = 0;
        for (StoreContents.ListContents list : found.lists().values()) {
            for (Value value : list.values()) {
                live += EntryLayout.entryBytes(value.bytes().remaining());
            }
        }
        StoreStats.HeapUse heap = stats.heap();
        if (heap.usedBytes() != live) {
            throw new SimulationFailure(
                    "the heap has " + heap.usedBytes() + " bytes in use, the live entries take " + live);
        }
    }

    private void resume(Engine engine) {
        if (random.nextInt(4) == 0) {
            VerifyReport report = engine.verify(VerifyReport.Progress.NONE);
            if (!report.clean()) {
                throw new SimulationFailure("verify says " + report.faults());
            }
        }
        if (random.nextInt(8) == 0) {
            engine.close();
        }
        if (random.nextInt(4) == 0) {
            cutAgain(disk);
        }
    }

    @Override
    public CrashStorage.Outcome before(CrashStorage.Call call) {
        try {
            return happen(call);
        } catch (SimulationFailure failure) {
            // The engine would treat this exception as a disk failure.
            simulation.failed(failure);
            return CrashStorage.Outcome.PASS;
        }
    }

    private CrashStorage.Outcome happen(CrashStorage.Call call) {
        if (!Simulation.changesDisk(call)) {
            return CrashStorage.Outcome.PASS;
        }
        story.note(call::toString);
        if (random.nextInt(8) == 0) {
            disk.writeBack(random);
        }
        if (random.nextInt(24) == 0) {
            cutAgain(disk);
        }
        return full && Simulation.lacksSpace(call, roomForCheckpoints)
                ? CrashStorage.Outcome.NO_SPACE
                : CrashStorage.Outcome.PASS;
    }
}
