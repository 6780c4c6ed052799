package io.caravan.testing.simulator;

import io.caravan.format.FileNames;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage.Kind;
import java.util.random.RandomGenerator;

/** Plans the disk faults of one run: usually none, otherwise one failing call, or periods in which the disk is full. */
final class FaultPlan {
    private static final Kind[] FAILING = {
        Kind.CREATE,
        Kind.WRITE,
        Kind.FORCE,
        Kind.FORCE,
        Kind.FORCE,
        Kind.FORCE,
        Kind.FORCE,
        Kind.MAP,
        Kind.RENAME,
        Kind.DELETE,
        Kind.FORCE_DIRECTORY
    };

    private final Kind failing;
    private final CrashStorage.Outcome way;
    private final boolean ofFramesOnly;
    private final boolean fills;
    private final boolean roomForCheckpoints;
    private final RandomGenerator random;
    private int callsUntilFailure;
    private boolean full;
    private boolean frozen;
    private boolean spaceIsBack;
    private boolean noticed;
    private boolean broke;
    private boolean wasFull;

    FaultPlan(RandomGenerator random, boolean mayFill) {
        this.random = random;
        int dice = random.nextInt(10);
        failing = dice < 4 ? FAILING[random.nextInt(FAILING.length)] : null;
        way = random.nextInt(3) == 0 ? CrashStorage.Outcome.FAIL : CrashStorage.Outcome.FAIL_HALFWAY;
        ofFramesOnly = random.nextInt(4) != 0;
        callsUntilFailure = random.nextInt(40);
        roomForCheckpoints = random.nextBoolean();
        fills = mayFill && (dice == 4 || dice == 5);
    }

    /** Whether a call has failed or the disk has been full. */
    boolean happened() {
        return broke || wasFull;
    }

    /** Whether a call has failed for a reason other than lack of space. */
    boolean broke() {
        return broke;
    }

    /** Stops the disk from switching between full and not full. */
    void freezeSpace() {
        frozen = true;
    }

    /** Frees space on the disk permanently. */
    void makeSpace() {
        spaceIsBack = true;
    }

    /** Records that the store has noticed the free space, and must therefore no longer reject appends. */
    void spaceWasNoticed() {
        noticed = true;
    }

    /** Whether the store may have to reject an append for lack of disk space. */
    boolean mayLackSpace() {
        return happened() && !noticed;
    }

    CrashStorage.Outcome outcome(CrashStorage.Call call) {
        if (mayFail(call) && callsUntilFailure-- == 0) {
            broke = true;
            return way;
        }
        if (fills && !spaceIsBack) {
            full ^= !frozen && random.nextInt(20) == 0;
            if (full && Simulation.lacksSpace(call, roomForCheckpoints)) {
                wasFull = true;
                return CrashStorage.Outcome.NO_SPACE;
            }
        }
        return CrashStorage.Outcome.PASS;
    }

    private boolean mayFail(CrashStorage.Call call) {
        boolean ofFrames = FileNames.LOG.number(call.file()).isPresent();
        return call.kind() == failing && (ofFrames || failing != Kind.FORCE || !ofFramesOnly);
    }

    @Override
    public String toString() {
        if (fills) {
            return "the disk is full now and then";
        }
        return failing == null ? "nothing goes wrong" : failing + " number " + callsUntilFailure + " will " + way;
    }
}
