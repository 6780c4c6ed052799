package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Verification;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.testing.CrashStorage;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** After a crash, checks the archive by itself, and then the restarted host. */
final class CrashCheck {
    private static final Instant LATER = Instant.parse("2026-03-01T00:00:00Z");

    /**
     * The state that a crash of the host before a step leaves behind.
     *
     * @param disk the state of the disk after a power failure
     * @param objects the archive
     * @param model the states that clients know
     * @param step the step before which the host crashed
     */
    record CrashImage(CrashStorage disk, MemoryObjects objects, CrashModel model, String step) {}

    private final CrashImage image;

    CrashCheck(CrashImage image) {
        this.image = image;
    }

    void run() throws IOException {
        try {
            check();
        } catch (AssertionError | RuntimeException problem) {
            throw new AssertionError(
                    "after a crash before " + image.step() + " (" + image.disk().survived() + "): "
                            + problem.getMessage(),
                    problem);
        }
    }

    private void check() throws IOException {
        if (hasRoot()) {
            Map<String, CrashState> archived = sound();
            wasSo("the archive", archived);
            assertThat(CrashRestore.restored(image.objects()))
                    .as("a restored store")
                    .isEqualTo(archived);
        }
        try (CrashHost host = restarted()) {
            Map<String, CrashState> local = host.contents();
            wasSo("the restarted store", local);
            assertThat(host.pass()).as("a pass succeeds").isTrue();
            assertThat(sound()).as("the archive after a pass").isEqualTo(local);
            assertThat(host.prune()).as("a prune succeeds").isTrue();
            assertThat(sound()).as("the archive after a prune").isEqualTo(local);
            assertThat(host.contents()).as("the store after it was archived").isEqualTo(local);
        }
    }

    private boolean hasRoot() {
        return !image.objects().keys("archive.json").isEmpty();
    }

    private CrashHost restarted() throws IOException {
        CrashStorage disk = image.disk();
        SplittableRandom random = new SplittableRandom(image.step().hashCode());
        return new CrashHost(disk, image.objects().client(), () -> LATER, random::nextLong);
    }

    /** Verifies the entire archive and returns the documents in it. */
    private Map<String, CrashState> sound() {
        Archive archive = Archive.open(image.objects().client());
        List<String> faults = new ArrayList<>();
        Verification.verify(archive, 1, faults::add);
        assertThat(faults).isEmpty();
        return CrashRestore.archived(archive);
    }

    private void wasSo(String what, Map<String, CrashState> contents) {
        for (String name : image.model().names()) {
            assertThat(image.model().wasSo(name, contents.get(name)))
                    .as(
                            "%s has of %s: %s; it was: %s",
                            what, name, contents.get(name), image.model().tell(name))
                    .isTrue();
        }
        assertThat(image.model().names()).as("documents in %s", what).containsAll(contents.keySet());
    }
}
