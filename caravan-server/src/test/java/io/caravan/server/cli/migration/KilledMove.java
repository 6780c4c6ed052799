package io.caravan.server.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.ServerJvm;
import io.caravan.server.cli.migration.TrippedProxy.Trip;
import io.caravan.testing.ChildProcess;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/** A {@code caravan move} during which a writer appends to the document and one process is killed. */
final class KilledMove implements AutoCloseable {
    private final Home source;
    private final Home target;
    private final String name;
    private final NumberedWriter writer;
    private final Path output;
    private final TrippedProxy toSource;
    private final TrippedProxy toTarget;
    private final AtomicLong kills = new AtomicLong();
    private volatile ChildProcess mover;

    /** A step of the move. Its name is a word in the request with which the step begins. */
    enum Step {
        FENCE,
        CONTINUE,
        REDIRECT
    }

    enum Victim {
        SOURCE,
        TARGET,
        MOVER
    }

    /**
     * Prepares a move from the source to the target.
     *
     * @param output receives the output of the command
     */
    KilledMove(Home source, Home target, String name, NumberedWriter writer, Path output) throws IOException {
        this.source = source;
        this.target = target;
        this.name = name;
        this.writer = writer;
        this.output = output;
        this.toSource = new TrippedProxy(source.port());
        this.toTarget = new TrippedProxy(target.port());
    }

    /**
     * Moves the document, and kills and restarts the victim at this step.
     *
     * @param responded whether the victim is killed after the reply to the step
     */
    void run(Step step, boolean responded, Victim victim) throws IOException, InterruptedException {
        Trip trip = new Trip(step.name(), responded, () -> {
            kills.incrementAndGet();
            kill(victim);
        });
        if (step == Step.CONTINUE) {
            // Waits for the last CONTINUE before the redirect. It has a value to copy, because one was appended after
            // the last pass.
            toSource.arm(new Trip("FENCE", false, () -> {
                long before = writer.acknowledged();
                Eventually.await("another value", () -> writer.acknowledged() > before);
                toTarget.arm(trip);
            }));
        } else {
            toSource.arm(trip);
        }
        mover = startMover();
        int exitCode = mover.awaitExit();
        if (victim == Victim.MOVER) {
            assertThat(exitCode).isNotZero();
            mover = startMover();
            exitCode = mover.awaitExit();
        }
        assertThat(output).content().contains("moved");
        assertThat(exitCode).isZero();
        assertThat(kills).hasValue(1);
    }

    private ChildProcess startMover() throws IOException {
        return new ChildProcess(
                ServerJvm.command(
                        "move",
                        name,
                        "--server",
                        toSource.address(),
                        "--to",
                        toTarget.address(),
                        "--redirect-to",
                        "127.0.0.1:" + target.port()),
                output);
    }

    private void kill(Victim victim) {
        try {
            switch (victim) {
                case SOURCE -> source.killAndStartAgain();
                case TARGET -> target.killAndStartAgain();
                case MOVER -> mover.kill();
            }
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        toSource.close();
        toTarget.close();
    }
}
