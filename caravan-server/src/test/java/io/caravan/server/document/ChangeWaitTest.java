package io.caravan.server.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.testing.Seeds;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests that a wait for changes misses no change and releases its resources exactly once. */
class ChangeWaitTest {
    private static final DocumentName A = DocumentName.of("a");
    private static final DocumentName B = DocumentName.of("b");
    private static final List<DocumentName> NAMES = List.of(A, B, DocumentName.of("c"));
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<Registration> registrations = new ArrayList<>();
    /** The names that the wait has passed to each check so far. The last check of a wait has no names. */
    private final List<List<DocumentName>> checks = new ArrayList<>();
    /** Documents that have changed since their last check. */
    private final Set<DocumentName> unseen = new HashSet<>();

    private boolean checking = true;
    private int releases;
    private final ChangeWait wait =
            new ChangeWait(channel.eventLoop(), 2, this::observe, this::check, () -> releases++);

    ChangeWaitTest() {
        channel.freezeTime();
    }

    private static final class Registration implements Runnable {
        private final DocumentName name;
        private final Runnable action;
        private boolean written;
        private int closed;

        Registration(DocumentName name, Runnable action) {
            this.name = name;
            this.action = action;
        }

        boolean open() {
            return !written && closed == 0;
        }

        @Override
        public void run() {
            closed++;
        }
    }

    private Runnable observe(DocumentName name, Runnable action) {
        Registration registration = new Registration(name, action);
        registrations.add(registration);
        return registration;
    }

    private void check(List<DocumentName> names) {
        assertThat(checking).as("one check at a time").isFalse();
        checking = true;
        checks.add(names);
        unseen.removeAll(names);
        if (!names.isEmpty()) {
            assertThat(releases).isZero();
        }
        assertThat(names)
                .as("observed before they are checked")
                .allMatch(name -> registrations.stream()
                        .anyMatch(each -> each.name.equals(name) && (each.open() || each.written)));
    }

    private void write(DocumentName name) {
        unseen.add(name);
        List<Registration> due = registrations.stream()
                .filter(each -> each.name.equals(name) && each.open())
                .toList();
        due.forEach(each -> {
            each.written = true;
            each.action.run();
        });
    }

    private void checked(List<DocumentName> again) {
        checking = false;
        wait.checked(again);
    }

    private void begin() {
        checking = false;
        wait.begin(List.of(A, B), LIMIT, wait::expire);
    }

    private void passTime() {
        channel.advanceTimeBy(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private void assertReleasedOnce() {
        channel.runPendingTasks();
        assertThat(channel.runScheduledPendingTasks()).as("no timer").isEqualTo(-1);
        assertThat(releases).isEqualTo(1);
        NAMES.forEach(wait::forget);
        assertThat(registrations)
                .allSatisfy(each -> assertThat(each.closed).isLessThanOrEqualTo(1))
                .noneMatch(Registration::open);
        passTime();
        assertThat(releases).isEqualTo(1);
    }

    @Test
    void checksAgainAfterEachChange() {
        begin();
        write(A);
        channel.runPendingTasks();
        assertThat(checks).containsExactly(List.of(A, B));
        checked(List.of());
        assertThat(checks).containsExactly(List.of(A, B), List.of(A));
        checked(List.of(B));
        checked(List.of());
        write(B);
        channel.runPendingTasks();
        assertThat(checks).containsExactly(List.of(A, B), List.of(A), List.of(B), List.of(B));
        wait.close();
        checked(List.of(A));
        assertThat(checks).hasSize(4);
        assertReleasedOnce();
    }

    /** Documents must be checked in the order of their changes, or constantly changing ones would delay the others. */
    @Test
    void checksInBatchesInOrderOfChanges() {
        checking = false;
        wait.begin(NAMES, LIMIT, wait::expire);
        write(B);
        channel.runPendingTasks();
        checked(List.of(A));
        checked(List.of());
        assertThat(checks).containsExactly(List.of(A, B), List.of(NAMES.get(2), B), List.of(A));
        wait.close();
        assertReleasedOnce();
    }

    @Test
    void checksOnceMoreAfterTimeout() {
        begin();
        passTime();
        assertReleasedOnce();
        assertThat(checks).containsExactly(List.of(A, B));
        checked(List.of(A));
        assertThat(checks).containsExactly(List.of(A, B), List.of());
        checked(List.of(A));
        wait.expire();
        wait.close();
        assertThat(checks).hasSize(2);
        assertReleasedOnce();
    }

    @Test
    void releasesIfClosedBeforeBegin() {
        wait.changed(List.of(A));
        wait.close();
        begin();
        wait.expire();
        assertReleasedOnce();
        assertThat(checks).isEmpty();
        assertThat(registrations).isEmpty();
    }

    @Test
    void stopsObservingDiscardedDocument() {
        begin();
        write(A);
        wait.forget(A);
        wait.forget(B);
        assertThat(registrations).noneMatch(Registration::open);
        write(B);
        channel.runPendingTasks();
        checked(List.of());
        assertThat(checks).hasSize(1);
        wait.close();
        assertReleasedOnce();
    }

    @Test
    void randomOrderMissesNoChangeAndReleasesOnce() {
        Seeds.forEach(200, seed -> new ChangeWaitTest().proceed(new Random(seed)));
    }

    private void proceed(Random random) {
        begin();
        int ends = random.nextInt(200);
        for (int i = 0; i < ends; i++) {
            DocumentName name = NAMES.get(random.nextInt(NAMES.size()));
            switch (random.nextInt(5)) {
                case 0 -> write(name);
                case 1 -> channel.runPendingTasks();
                case 2 -> wait.changed(List.of(name));
                default -> {
                    if (checking) {
                        checked(random.nextBoolean() ? List.of() : List.of(name));
                    }
                }
            }
            assertThat(releases).isZero();
        }
        settle();
        Set<DocumentName> observed = new HashSet<>();
        checks.forEach(observed::addAll);
        assertThat(unseen).doesNotContainAnyElementsOf(observed);
        end(random);
    }

    private void settle() {
        channel.runPendingTasks();
        while (checking) {
            checked(List.of());
            channel.runPendingTasks();
        }
    }

    private void end(Random random) {
        int before = checks.size();
        boolean expires = random.nextBoolean();
        if (random.nextBoolean()) {
            write(A);
        }
        if (expires) {
            wait.expire();
        }
        if (random.nextBoolean()) {
            write(B);
        }
        if (!expires || random.nextBoolean()) {
            wait.close();
        }
        settle();
        wait.expire();
        wait.close();
        settle();
        assertReleasedOnce();
        assertThat(checks.size() - before).isEqualTo(expires ? 1 : 0);
    }
}
