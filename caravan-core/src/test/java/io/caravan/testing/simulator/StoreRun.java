package io.caravan.testing.simulator;

import io.caravan.CaravanException;
import io.caravan.StoreFailedException;
import io.caravan.engine.Engine;
import io.caravan.engine.Worker;
import io.caravan.format.FileNames;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One run of the simulated store: it begins by opening the files that the previous run left, and ends with a cut, a
 * kill, a failure, or a clean close. At each I/O call, other clients and workers may run, faults are injected, and a
 * {@link Reopening} may check what a cut at that moment would leave.
 */
final class StoreRun implements CrashStorage.Director {
    private static final int MAX_CALLS = 600;
    private static final int MAX_OPERATIONS = 400;
    private static final int MAX_INSIDE = 2;
    private static final int LAST_OPERATIONS = 5;
    /** A number of operations so large that they do not fit in the log without a new segment. */
    private static final int OPERATIONS_WITH_SPACE = 40;
    /** The number of steps after which all workers must be idle: far more than any run requires. */
    private static final int STEPS_TO_REST = 100_000;

    private static final int LOOPS = 3;
    /** The factor by which runs are longer and checks of cuts are rarer if threads also switch at locks. */
    private static final int INTERLEAVED = 8;
    /** The time after which every component of a store has checked for free space again. */
    private static final long RECOVERY_NANOS = 2_000_000_000;

    private final Simulation simulation;
    private final Story story;
    private final SplittableRandom random;
    private final CrashStorage disk;
    private final SimulatedClock clock = new SimulatedClock();
    private final SimulatedScheduler scheduler;
    private final boolean afterFailure;
    private final FaultPlan faults;
    private History history;
    private Client client;
    private int callsLeft;
    private int inside;
    /** The file that contains the first frame of this run. An empty batch is acknowledged without a frame. */
    private String firstFrame = "";
    /** Whether the first frame of this run is durable. Such a frame shows that all earlier frames were fsynced. */
    private boolean frameForced;

    private CrashStorage left;
    private final List<Worker> loops = new ArrayList<>();
    private boolean closing;
    private boolean ended;
    /** Whether the power has been cut since the history began. */
    private boolean powerLost;

    StoreRun(Simulation simulation, CrashStorage disk, History history, boolean afterFailure, boolean afterPowerLoss) {
        this.simulation = simulation;
        this.story = simulation.story();
        this.random = simulation.random().split();
        this.disk = disk;
        this.history = history;
        this.scheduler = simulation.interleaves()
                ? SimulatedScheduler.interleaved(random, clock)
                : new SimulatedScheduler(random, clock);
        this.afterFailure = afterFailure;
        this.powerLost = afterPowerLoss;
        this.faults = new FaultPlan(random, !afterFailure);
        this.callsLeft = 1 + random.nextInt(simulation.interleaves() ? INTERLEAVED * MAX_CALLS : MAX_CALLS);
    }

    /** Runs the store until a cut, a kill, a failure, or a close. {@link #left()} then returns the remains. */
    void live() {
        story.note(() -> "a run begins, " + faults);
        disk.director(this);
        try {
            Engine engine = open();
            if (engine != null) {
                work(engine);
            }
        } finally {
            ended = true;
            scheduler.end();
        }
        disk.director(call -> CrashStorage.Outcome.PASS);
        if (left == null) {
            left = cut();
        }
    }

    /** Whether the disk has failed for a reason other than lack of space. */
    boolean failed() {
        return faults.broke();
    }

    /** Whether the power has been cut since the history began; a process kill does not count. */
    boolean powerLost() {
        return powerLost;
    }

    /** Returns the storage that this run left for the next run. */
    CrashStorage left() {
        return left;
    }

    /** Returns the history that the storage of {@link #left()} must match. */
    History history() {
        return history;
    }

    private Engine open() {
        try {
            Engine engine = Engine.open(simulation.config(), disk, clock, scheduler);
            if (!over()) {
                history = history.matching(StoreContents.of(engine), history.certain(powerLost));
                powerLost = false;
            }
            return over() ? null : engine;
        } catch (IOException | CaravanException rejected) {
            if (!over() && !faults.happened()) {
                throw new SimulationFailure("the store does not open", rejected);
            }
            story.note(() -> "does not open: " + rejected);
            return null;
        }
    }

    private void work(Engine engine) {
        client = new Client(this, engine, random.nextLong());
        if (simulation.interleaves()) {
            startLoops(engine);
        }
        int operations = simulation.interleaves() ? INTERLEAVED * MAX_OPERATIONS : MAX_OPERATIONS;
        for (int i = 0; i < operations && !over() && !client.storeFailed(); i++) {
            if (simulation.interleaves() && random.nextInt(8) != 0) {
                loops.get(random.nextInt(LOOPS)).wake();
                scheduler.step();
            } else if (random.nextInt(4) == 0) {
                scheduler.step();
            } else {
                client.act(false);
            }
            simulation.checkNoFailure();
        }
        if (!over() && !client.storeFailed() && random.nextBoolean()) {
            continueWithSpace();
        }
        if (!over() && !client.storeFailed()) {
            close(engine);
        }
    }

    /** Starts event loops that also use the store. Each has its own thread, and stops in the middle of its work. */
    private void startLoops(Engine engine) {
        for (int i = 0; i < LOOPS; i++) {
            EventLoop loop = new EventLoop(this, engine, client, random.split());
            Worker worker = scheduler.worker("loop-" + i, loop::turn, this::loopBroke);
            worker.start();
            loops.add(worker);
        }
    }

    private void loopBroke(Throwable broken) {
        if (!silent()) {
            failed(
                    broken instanceof SimulationFailure failure
                            ? failure
                            : new SimulationFailure("an event loop broke", broken));
        }
    }

    /** Frees disk space while the workers are idle, and checks that the store continues without a restart. */
    private void continueWithSpace() {
        int operations = faults.mayLackSpace() ? OPERATIONS_WITH_SPACE : LAST_OPERATIONS;
        faults.freezeSpace();
        letAllWork();
        faults.makeSpace();
        scheduler.letTimePass(RECOVERY_NANOS);
        letAllWork();
        faults.spaceWasNoticed();
        for (int i = 0; i < operations && !over() && !client.storeFailed(); i++) {
            client.act(false);
            simulation.checkNoFailure();
        }
    }

    /** Closes the store cleanly, and checks that a subsequent power cut undoes no accepted write. */
    private void close(Engine engine) {
        story.note(() -> "close");
        client = null;
        closing = true;
        try {
            engine.close();
        } catch (StoreFailedException failed) {
            if (!over() && !faults.broke()) {
                throw new SimulationFailure("closing failed, though the disk did not", failed);
            }
        }
        if (!over() && !faults.broke()) {
            history = history.matching(StoreContents.of(reopen(disk.powerCut(random))), history.accepted());
        }
    }

    private Engine reopen(CrashStorage storage) {
        try {
            return simulation.open(storage);
        } catch (IOException | CaravanException rejected) {
            throw new SimulationFailure("what was closed does not open", rejected);
        }
    }

    private boolean over() {
        return left != null;
    }

    private CrashStorage cut() {
        // After a failed fsync, a kill is more interesting than usual: it leaves the page cache.
        boolean power = simulation.mayLosePower() && random.nextInt(faults.broke() ? 2 : 4) != 0;
        powerLost |= power;
        CrashStorage remains = power ? disk.powerCut(random) : disk.processKill();
        story.note(() -> power ? "the power is cut: " + remains.survived() : "the process is killed");
        return remains;
    }

    @Override
    public CrashStorage.Outcome before(CrashStorage.Call call) {
        if (over()) {
            return CrashStorage.Outcome.PASS;
        }
        try {
            CrashStorage.Outcome outcome = happen(call);
            if (outcome != CrashStorage.Outcome.PASS && isLogForce(call)) {
                history.forceFailed();
            }
            return outcome;
        } catch (SimulationFailure failure) {
            // The engine would treat this exception as a disk failure.
            return end(failure);
        } catch (RuntimeException | Error broken) {
            return end(new SimulationFailure("the store broke", broken));
        }
    }

    private static boolean isFrame(CrashStorage.Call call) {
        return call.kind() == Kind.WRITE
                && call.position() > 0
                && FileNames.LOG.number(call.file()).isPresent();
    }

    /** Whether a call fsyncs a log segment: its frames or its header. */
    private static boolean isLogForce(CrashStorage.Call call) {
        return call.kind() == Kind.FORCE && FileNames.LOG.number(call.file()).isPresent();
    }

    private CrashStorage.Outcome end(SimulationFailure failure) {
        simulation.failed(failure);
        left = disk;
        return CrashStorage.Outcome.PASS;
    }

    private CrashStorage.Outcome happen(CrashStorage.Call call) {
        if (isFrame(call)) {
            history.frameWritten();
            // Opening writes frames of earlier runs again, before there is a client.
            if (client != null && firstFrame.isEmpty()) {
                firstFrame = call.file();
            }
        }
        if (!Simulation.changesDisk(call)) {
            return CrashStorage.Outcome.PASS;
        }
        story.note(call::toString);
        if (random.nextInt(8) == 0) {
            disk.writeBack(random);
        }
        if (checksAtCut()) {
            // Without a later frame, recovery takes damage to the last frame of an earlier run for a torn tail.
            boolean mayRot = !faults.happened() && frameForced;
            new Reopening(simulation, random.split(), history, powerLost).afterCutOf(disk, mayRot);
        }
        if (--callsLeft <= 0) {
            left = cut();
            return CrashStorage.Outcome.PASS;
        }
        resumeInside();
        CrashStorage.Outcome outcome = over() ? CrashStorage.Outcome.PASS : faults.outcome(call);
        frameForced |= isLogForce(call) && call.file().equals(firstFrame) && outcome == CrashStorage.Outcome.PASS;
        return outcome;
    }

    private boolean checksAtCut() {
        return random.nextInt(simulation.interleaves() ? INTERLEAVED * 3 : 3) == 0;
    }

    private void resumeInside() {
        if (inside < MAX_INSIDE && random.nextInt(6) == 0) {
            inside++;
            story.enter();
            if (client == null || random.nextInt(3) == 0) {
                scheduler.stepInside();
            } else {
                scheduler.asGuest(() -> client.act(true));
            }
            story.leave();
            inside--;
        }
        scheduler.handOver();
    }

    // Methods for the client.

    Story story() {
        return story;
    }

    boolean silent() {
        return over() || ended;
    }

    /** Whether the store is being closed, or is closed. */
    boolean closing() {
        return closing;
    }

    SimulatedScheduler scheduler() {
        return scheduler;
    }

    boolean faultHappened() {
        return faults.happened();
    }

    boolean mixesLevels() {
        return simulation.mixesLevels();
    }

    boolean clientsFlush() {
        return simulation.clientsFlush();
    }

    /** Lets other threads run between two entries of a read. */
    void betweenEntries() {
        if (random.nextInt(4) == 0) {
            scheduler.step();
        } else if (client != null && random.nextInt(4) == 0) {
            scheduler.asGuest(() -> client.act(true));
        }
    }

    /** Lets all workers do their work until they are idle. */
    void letAllWork() {
        for (int steps = 0; !over() && scheduler.step(); steps++) {
            simulation.checkNoFailure();
            if (steps == STEPS_TO_REST) {
                throw new SimulationFailure("the store's workers wake each other without an end");
            }
        }
    }

    /** Whether a flush makes trims durable, so that the store can reuse the space of the trimmed values. */
    boolean flushForces() {
        return simulation.survivesPower();
    }

    long heapBytes() {
        return simulation.heapBytes();
    }

    boolean mayLackSpace() {
        return faults.mayLackSpace();
    }

    void failed(SimulationFailure failure) {
        simulation.failed(failure);
    }
}
