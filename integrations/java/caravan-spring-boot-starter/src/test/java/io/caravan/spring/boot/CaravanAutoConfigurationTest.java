package io.caravan.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.FlushPolicy;
import io.caravan.ListStore;
import io.caravan.StoreClosedException;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.integrations.testing.ReadmeExample;
import io.caravan.micrometer.CaravanMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class CaravanAutoConfigurationTest {
    @TempDir
    Path work;

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    CaravanAutoConfiguration.class,
                    CaravanHealthAutoConfiguration.class,
                    CaravanMetricsAutoConfiguration.class));

    private ApplicationContextRunner runner() {
        return bare.withPropertyValues("caravan.directory=" + work.resolve("store"));
    }

    private static Health health(CaravanHealthIndicator indicator) {
        Health health = indicator.health();
        assertThat(health).isNotNull();
        return health;
    }

    @Test
    void opensAndClosesStoreWithContext() {
        AtomicReference<DurableListStore> opened = new AtomicReference<>();
        runner().run(context -> {
            opened.set(context.getBean(DurableListStore.class));
            opened.get().append(1, new byte[3]).join();
        });

        assertThatThrownBy(() -> opened.get().flush()).isInstanceOf(StoreClosedException.class);
        runner().run(context ->
                assertThat(context.getBean(ListStore.class).read(1)).hasSize(1));
    }

    @Test
    void propertiesConfigureStore() {
        runner().withPropertyValues(
                        "caravan.durability=process",
                        "caravan.flush-policy=delay",
                        "caravan.flush-delay=3ms",
                        "caravan.max-value=2MB",
                        "caravan.max-heap=10GB",
                        "caravan.checkpoint-floor=1MB")
                .run(context -> {
                    StoreConfig config =
                            context.getBean(CaravanProperties.class).toConfig();
                    assertThat(config.directory()).isEqualTo(work.resolve("store"));
                    assertThat(config.durability()).isEqualTo(Durability.PROCESS);
                    assertThat(config.flushPolicy()).isEqualTo(FlushPolicy.fixedDelay(Duration.ofMillis(3)));
                    assertThat(config.maxValueBytes()).isEqualTo(2 << 20);
                    assertThat(config.maxHeapBytes()).isEqualTo(10L << 30);
                    assertThat(config.checkpointFloorBytes()).isEqualTo(1 << 20);
                });
    }

    @Test
    void defaultsMatchStoreConfig() {
        runner().run(context -> assertThat(
                        context.getBean(CaravanProperties.class).toConfig())
                .usingRecursiveComparison()
                .isEqualTo(StoreConfig.builder(work.resolve("store")).build()));
    }

    @Test
    void reportsInvalidSettingByName() {
        bare.run(context -> assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("caravan.directory")
                .hasMessageContaining("The store needs a directory of its own."));
        runner().withPropertyValues("caravan.max-value=3GB")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("caravan.max-value")
                        .hasMessageContaining("just under 32MB"));
        runner().withPropertyValues("caravan.max-heap=3TB")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("maxHeapBytes"));
    }

    @Test
    void applicationStoreReplacesAutoConfiguredStore() {
        bare.withBean(ListStore.class, ListStore::inMemory).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ListStore.class).doesNotHaveBean("caravanStore");
            assertThat(health(context.getBean(CaravanHealthIndicator.class)).getStatus())
                    .isEqualTo(Status.UP);
            assertThat(context).hasSingleBean(CaravanMetrics.class);
        });
    }

    @Test
    void severalStoresDisableHealthAndMetrics() {
        bare.withBean("first", ListStore.class, ListStore::inMemory)
                .withBean("second", ListStore.class, ListStore::inMemory)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(CaravanHealthIndicator.class)
                        .doesNotHaveBean(CaravanMetrics.class));
    }

    @Test
    void healthIsDownAfterStoreIsClosed() {
        runner().run(context -> {
            CaravanHealthIndicator indicator = context.getBean(CaravanHealthIndicator.class);
            context.getBean(ListStore.class).append(1, new byte[3]).join();
            Health up = health(indicator);
            assertThat(up.getStatus()).isEqualTo(Status.UP);
            assertThat(up.getDetails()).containsEntry("lists", 1L).containsKeys("store", "usedBytes");

            context.getBean(ListStore.class).close();

            assertThat(health(indicator).getStatus()).isEqualTo(Status.DOWN);
        });
    }

    @Test
    void healthIsDownAfterStoreFailure() {
        StoreFailedException failure = new StoreFailedException("the store", new IOException("I/O error"));
        try (ListStore sound = ListStore.inMemory()) {
            ListStore failed = (ListStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {ListStore.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("flush")) {
                            throw failure;
                        }
                        try {
                            return method.invoke(sound, arguments);
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    });

            Health health = health(new CaravanHealthIndicator(failed));

            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("error")).asString().contains("has failed and must be reopened");
        }
    }

    @Test
    void healthCanBeDisabled() {
        runner().withPropertyValues("management.health.caravan.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(CaravanHealthIndicator.class));
    }

    @Test
    void registersMetricsInApplicationRegistry() {
        runner().withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .get("caravan.store.lists")
                                .gauge()
                                .value())
                        .isZero());
    }

    @Test
    void metadataDescribesProperties() throws IOException {
        try (InputStream metadata =
                CaravanProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(metadata).isNotNull();
            String text = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(text)
                    .contains("\"caravan.directory\"", "\"caravan.durability\"", "\"caravan.flush-policy\"")
                    .contains("\"caravan.flush-delay\"", "\"caravan.max-value\"", "\"caravan.max-heap\"")
                    .contains("\"caravan.checkpoint-floor\"", "The store's directory, which is created");
        }
    }

    @Test
    void readmeExampleRunsWithAndWithoutActuatorAndMicrometer() throws IOException {
        ReadmeExample example = ReadmeExample.compile(work);
        String[] arguments = {
            "--caravan.directory=" + work.resolve("example"),
            "--spring.main.banner-mode=off",
            "--logging.level.root=off"
        };

        assertThat(example.run(arguments)).containsExactly(example.promised());
        assertThat(example.without(
                                "micrometer-", "spring-boot-micrometer", "spring-boot-health", "spring-boot-actuator")
                        .run(arguments))
                .containsExactly("2 lines");
    }
}
