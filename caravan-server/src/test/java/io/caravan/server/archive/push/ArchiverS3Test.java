package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.name;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.S3Server;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.testing.CannedResponse;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultProxy;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that appends continue while the S3 server is down, slow, or failing, and that the archive catches up later. */
@Tag("slow")
class ArchiverS3Test {
    private static final String URL = "s3://" + S3Server.BUCKET + "/prefix";
    private static final Duration AFTER = Duration.ofSeconds(1);
    private static final int APPENDS = 500;
    private static final String[] NAMES =
            IntStream.range(0, 20).mapToObj(i -> "document-" + i).toArray(String[]::new);
    private static final int ALWAYS = Integer.MAX_VALUE;

    private S3Server s3;
    private FaultProxy proxy;
    private ArchivedDocuments server;
    private Archiver archiver;

    @BeforeEach
    void start() throws Exception {
        s3 = S3Server.start();
        proxy = FaultProxy.before(s3.port());
        server = new ArchivedDocuments();
        archiver = server.archive(Claims.config(
                URL,
                () -> ObjectStores.place(URL).open(S3Server.through(proxy.port())),
                false,
                false,
                false,
                AFTER,
                4,
                0,
                false));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        proxy.close();
        s3.close();
    }

    private void append(int count) {
        for (int i = 0; i < count; i++) {
            server.push(NAMES[i % NAMES.length], "value " + i);
        }
    }

    private void awaitAll() {
        server.awaitArchived(NAMES);
    }

    private void assertArchived() {
        try (ObjectStore objects = ObjectStores.place(URL).open(s3.options())) {
            Archive archive = Archive.open(objects);
            for (String document : NAMES) {
                Generation latest = archive.manifest(name(document)).manifest().latest();
                assertThat(Archiving.read(archive, name(document), latest))
                        .hasSize((int) server.info(document).count());
            }
        }
    }

    /**
     * Appends during an archive fault until the status reports the fault, and then waits until the archive has caught
     * up.
     */
    private void survives(Runnable problem, String kind) {
        append(NAMES.length);
        awaitAll();
        problem.run();
        // The fault lasts until all appends are done, which shows that they do not wait for the archive.
        append(APPENDS);
        Eventually.await(
                "the problem is reported",
                () -> archiver.status().failures().get(kind) > 0
                        && archiver.status().backlog() > 0
                        && archiver.status().lagSeconds() > 0);
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
        proxy.pass();
        awaitAll();
        Eventually.await("no lag", () -> archiver.status().backlog() == 0);
        assertArchived();
    }

    @Test
    void catchesUpAfterServerOutage() {
        survives(() -> proxy.reject(), "unavailable");
    }

    @Test
    void catchesUpAfterServerErrors() {
        survives(() -> proxy.response(ALWAYS, line -> true, CannedResponse.of(500)), "unavailable");
    }

    @Test
    void catchesUpAfterDeniedPuts() {
        survives(
                () -> proxy.response(
                        ALWAYS,
                        line -> line.startsWith("PUT "),
                        CannedResponse.s3(403, "AccessDenied", "Access Denied")),
                "denied");
    }
}
