package io.caravan.micrometer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.integrations.testing.ReadmeExample;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaravanMetricsTest {
    /** A table row about a store metric in the server's documentation, with its name, type, unit, and description. */
    private static final Pattern SERVERS =
            Pattern.compile("(?m)^\\| `caravan_store_([a-z0-9_]+?)(?:_total)?` \\| \\w+ \\| [^|]+ \\| (.+) \\|$");

    private static final Path DOCUMENT = Path.of("../../../docs/reference/metrics.md");

    @TempDir
    Path work;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong nanos = new AtomicLong();

    private double counter(String name) {
        return registry.get(name).functionCounter().count();
    }

    private double gauge(String name) {
        return registry.get(name).gauge().value();
    }

    @Test
    void registersStoreMetrics() {
        try (DurableListStore store = DurableListStore.open(work.resolve("store"))) {
            store.append(1, "hello".getBytes(UTF_8)).join();
            store.append(2, "you".getBytes(UTF_8)).join();
            store.trim(1, 1).join();
            store.delete(2).join();

            new CaravanMetrics(store).bindTo(registry);

            assertThat(counter("caravan.store.appends")).isEqualTo(2);
            assertThat(counter("caravan.store.appended.bytes")).isEqualTo(8);
            assertThat(counter("caravan.store.trims")).isEqualTo(1);
            assertThat(counter("caravan.store.deletes")).isEqualTo(1);
            assertThat(counter("caravan.store.fsyncs")).isPositive();
            assertThat(gauge("caravan.store.lists")).isEqualTo(1);
            assertThat(gauge("caravan.store.fsync.p99.seconds")).isBetween(1e-9, 600.0);
            assertThat(gauge("caravan.store.log.replay.bytes")).isPositive();
        }
        assertThat(counter("caravan.store.appends")).isEqualTo(2);
    }

    @Test
    void cachesMetricsForOneSecond() {
        try (ListStore store = ListStore.inMemory()) {
            new CaravanMetrics(store, Tags.empty(), nanos::get).bindTo(registry);
            store.append(1, new byte[5]).join();

            nanos.set(999_999_999);
            assertThat(counter("caravan.store.appends")).isZero();
            nanos.set(1_000_000_000);
            assertThat(counter("caravan.store.appends")).isEqualTo(1);
            assertThat(counter("caravan.store.appended.bytes")).isEqualTo(5);
        }
    }

    @Test
    void metricsSurviveGarbageCollection() {
        try (ListStore store = ListStore.inMemory()) {
            store.append(1, new byte[5]).join();
            new CaravanMetrics(store).bindTo(registry);

            System.gc();

            assertThat(counter("caravan.store.appends")).isEqualTo(1);
            assertThat(gauge("caravan.store.lists")).isEqualTo(1);
        }
    }

    @Test
    void tagsDistinguishStores() {
        try (ListStore first = ListStore.inMemory();
                ListStore second = ListStore.inMemory()) {
            second.append(1, new byte[1]).join();
            new CaravanMetrics(first, Tags.of("store", "first")).bindTo(registry);
            new CaravanMetrics(second, Tags.of("store", "second")).bindTo(registry);

            FunctionCounter appends =
                    registry.get("caravan.store.appends").tag("store", "second").functionCounter();
            assertThat(appends.count()).isEqualTo(1);
            assertThat(registry.get("caravan.store.appends").functionCounters()).hasSize(2);
        }
    }

    /**
     * The names and descriptions must match those of the server's metrics, except for {@code writable}, which depends
     * on the writes of the server's clients.
     */
    @Test
    void namesAndDescriptionsMatchServerMetrics() throws IOException {
        Set<String> servers = SERVERS.matcher(Files.readString(DOCUMENT))
                .results()
                .map(found -> found.group(1).replace('_', '.') + ": " + found.group(2))
                .filter(metric -> !metric.startsWith("writable"))
                .collect(Collectors.toSet());
        try (ListStore store = ListStore.inMemory()) {
            new CaravanMetrics(store).bindTo(registry);
        }

        assertThat(servers).hasSizeGreaterThan(20);
        assertThat(registry.getMeters().stream()
                        .map(Meter::getId)
                        .map(id -> id.getName().substring("caravan.store.".length()) + ": " + id.getDescription()))
                .containsExactlyInAnyOrderElementsOf(servers);
    }

    @Test
    void readmeExampleRuns() throws IOException {
        ReadmeExample example = ReadmeExample.compile(work);

        assertThat(example.run(work.resolve("store").toString())).containsExactly(example.promised());
    }
}
