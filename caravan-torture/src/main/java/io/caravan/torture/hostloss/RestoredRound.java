package io.caravan.torture.hostloss;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.bench.s3.Bucket;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.hostloss.DocumentHistory.Finding;
import io.caravan.torture.hostloss.ServedRound.LostHost;
import io.caravan.torture.model.ListModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The second half of a round: restores the store from the archive alone, and compares it with the replies that clients
 * received.
 */
final class RestoredRound extends Round {
    private static final int MAX_KILLS = 4;

    private final LostHost lost;
    /** The number of restored documents. This and the fields below are complete after {@link #run}. */
    int there;
    /** The number of times the restore was killed. */
    int kills;
    /** The duration of the completed restore, including the start of its process. */
    long restoreNanos;
    /** The number of acknowledged changes that the archive does not contain. */
    long lostChanges;
    /** The time between the acknowledgment of the oldest lost change and the loss of the host. */
    long oldestLostNanos;

    RestoredRound(
            HostLossOptions options,
            Bucket bucket,
            List<DocumentHistory> documents,
            LostHost lost,
            SplittableRandom random) {
        super(options, bucket, documents, random);
        this.lost = lost;
    }

    /**
     * Restores the store, and compares it with the histories of the documents. If there is no problem, the histories
     * continue from the restored state.
     *
     * @param data directory for the restored store; does not exist yet
     */
    void run(Path data) throws IOException, InterruptedException {
        add(command("archive", "verify").run());
        restore(data);
        if (!Files.exists(data)) {
            problems.add("there is no store in " + data + " after the restore");
            return;
        }
        VerifyReport report = DurableListStore.verify(data, VerifyReport.Progress.NONE);
        if (!report.clean()) {
            problems.add("the restored store is not sound: " + report);
        }
        List<String> alone = List.of("--archive", "none");
        try (ServerProcess server = new ServerProcess(ServerProcess.MAIN, data, options.log(), alone, Map.of())) {
            server.start();
            try (FoundDocuments found = new FoundDocuments(server.awaitAddress())) {
                compare(found);
            }
            server.terminate();
        }
    }

    /**
     * Restores the store from the archive. If configured, first kills the restore a few times. Each restart continues
     * after the documents already restored.
     */
    private void restore(Path data) throws IOException, InterruptedException {
        CaravanCommand restore = command("restore", "--data", data.toString());
        int attempts = options.killRestore ? 1 + random.nextInt(MAX_KILLS) : 0;
        for (int i = 0; i < attempts && restore.killed(random); i++) {
            kills++;
        }
        long startNanos = System.nanoTime();
        add(restore.run());
        restoreNanos = System.nanoTime() - startNanos;
    }

    private void compare(FoundDocuments server) throws IOException {
        long count = server.count();
        for (DocumentHistory document : documents) {
            try {
                compare(document, server.read(document.name()));
            } catch (IOException unreadable) {
                problems.add(document + " cannot be read: " + unreadable.getMessage());
            }
        }
        if (count != there) {
            problems.add("the restored store has " + count + " documents, of which only " + there + " were ever"
                    + " written");
        }
    }

    private void compare(DocumentHistory document, @Nullable ListModel found) {
        there += found == null ? 0 : 1;
        Finding finding = document.find(found, lost.mustNanos());
        add(finding.problem());
        if (finding.problem() == null) {
            account(finding);
            document.continueFrom(finding);
        }
    }

    private void account(Finding finding) {
        lostChanges += finding.lost();
        if (finding.lost() > 0) {
            oldestLostNanos = Math.max(oldestLostNanos, lost.killedNanos() - finding.lostSinceNanos());
        }
    }
}
