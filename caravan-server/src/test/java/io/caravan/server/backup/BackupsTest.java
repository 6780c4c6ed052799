package io.caravan.server.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.BackupReport;
import io.caravan.server.document.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that only one backup runs at a time, on the thread that starts it. */
class BackupsTest {
    private static final BackupReport REPORT = new BackupReport(8192, 1, 3, 100);

    @TempDir
    private Path directory;

    /** An outcome that records all reports and errors. */
    private static final class RecordingOutcome implements Outcome<Backups.Made> {
        final List<BackupReport> made = new ArrayList<>();
        final List<String> problems = new ArrayList<>();

        @Override
        public void success(Backups.Made result) {
            made.add(result.report());
        }

        @Override
        public void failure(RuntimeException problem) {
            problems.add(problem.getMessage());
        }
    }

    private final RecordingOutcome outcome = new RecordingOutcome();

    @Test
    void reportsErrorAndAllowsNextBackup() {
        List<Error> errors = new ArrayList<>(List.of(new OutOfMemoryError("no room"), new StackOverflowError()));
        Backups backups = new Backups(
                (target, progress) -> {
                    if (!errors.isEmpty()) {
                        throw errors.remove(0);
                    }
                    return REPORT;
                },
                directory,
                Runnable::run);
        assertThatThrownBy(() -> backups.start("a", outcome)).isInstanceOf(OutOfMemoryError.class);
        assertThatThrownBy(() -> backups.start("a", outcome)).isInstanceOf(StackOverflowError.class);
        backups.start("a", outcome);
        assertThat(outcome.problems)
                .containsExactly(
                        "the backup failed: java.lang.OutOfMemoryError: no room",
                        "the backup failed: java.lang.StackOverflowError");
        assertThat(outcome.made).containsExactly(REPORT);
    }

    @Test
    void allowsNextBackupAfterThreadStartFails() {
        List<Runnable> started = new ArrayList<>();
        boolean[] full = {true};
        Backups backups = new Backups((target, progress) -> REPORT, directory, backup -> {
            if (full[0]) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            started.add(backup);
        });
        assertThatThrownBy(() -> backups.start("a", outcome)).hasMessageContaining("native thread");
        full[0] = false;
        backups.start("a", outcome);
        started.get(0).run();
        assertThat(outcome.made).containsExactly(REPORT);
    }
}
