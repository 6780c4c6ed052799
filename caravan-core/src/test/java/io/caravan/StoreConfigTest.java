package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StoreConfigTest {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final long GIB = 1024L * MIB;
    private static final int BLOCK = StoreConfig.BLOCK_BYTES;

    private static StoreConfig.Builder builder() {
        return StoreConfig.builder(Path.of("data"));
    }

    /**
     * Returns the config of the smallest possible store: its only heap segment has space for one entry of 4 KiB,
     * including 8 bytes of fields.
     */
    private static StoreConfig.Builder smallest() {
        return builder()
                .maxValueBytes(4 * KIB - 8)
                .logBufferBytes(8 * KIB)
                .logSegmentBytes(16 * KIB)
                .heapSegmentBytes(8 * KIB)
                .maxHeapBytes(8 * KIB);
    }

    @Test
    void everySettingHasDefault() {
        StoreConfig config = builder().build();
        assertThat(config.directory()).isEqualTo(Path.of("data"));
        assertThat(config.durability()).isEqualTo(Durability.SYNC);
        assertThat(config.flushPolicy()).isEqualTo(FlushPolicy.immediate());
        assertThat(config.maxHeapBytes()).isEqualTo(1024 * GIB);
        assertThat(config.maxValueBytes()).isEqualTo(MIB);
        assertThat(config.logBufferBytes()).isEqualTo(4 * MIB);
        assertThat(config.logSegmentBytes()).isEqualTo(32 * MIB);
        assertThat(config.heapSegmentBytes()).isEqualTo(64 * MIB);
        assertThat(config.checkpointFloorBytes()).isEqualTo(64L * MIB);
        assertThat(config.checkpointFraction()).isEqualTo(1.0);
        assertThat(config.heapPressureListener()).isNull();
        assertThat(config.heapUsedThreshold()).isEqualTo(0.8);
        assertThat(config.heapFragmentationThreshold()).isEqualTo(1.0);
    }

    @Test
    void configKeepsEverySetting() {
        HeapPressureListener listener = (high, used, fragmentation) -> {};
        StoreConfig config = smallest()
                .durability(Durability.MEMORY)
                .flushPolicy(FlushPolicy.fixedDelay(Duration.ofMillis(3)))
                .checkpointFloorBytes(5)
                .checkpointFraction(0.25)
                .heapPressure(0.5, 0.75, listener)
                .build();
        assertThat(config.durability()).isEqualTo(Durability.MEMORY);
        assertThat(config.flushPolicy()).isEqualTo(FlushPolicy.fixedDelay(Duration.ofMillis(3)));
        assertThat(config.maxValueBytes()).isEqualTo(4 * KIB - 8);
        assertThat(config.logBufferBytes()).isEqualTo(8 * KIB);
        assertThat(config.logSegmentBytes()).isEqualTo(16 * KIB);
        assertThat(config.heapSegmentBytes()).isEqualTo(8 * KIB);
        assertThat(config.maxHeapBytes()).isEqualTo(8 * KIB);
        assertThat(config.checkpointFloorBytes()).isEqualTo(5);
        assertThat(config.checkpointFraction()).isEqualTo(0.25);
        assertThat(config.heapUsedThreshold()).isEqualTo(0.5);
        assertThat(config.heapFragmentationThreshold()).isEqualTo(0.75);
        assertThat(config.heapPressureListener()).isSameAs(listener);
    }

    static Stream<Arguments> acceptsSettingsAtTheirBounds() {
        return Stream.of(
                setting("maxHeapBytes least", builder -> builder.maxHeapBytes(BLOCK)),
                setting("maxHeapBytes most", builder -> builder.maxHeapBytes(2048 * GIB)),
                setting("maxValueBytes least", builder -> builder.maxValueBytes(1)),
                setting("maxValueBytes most", builder -> builder.maxValueBytes(StoreConfig.MAX_VALUE_BYTES)),
                setting("logBufferBytes least", builder -> builder.logBufferBytes(8 * KIB)),
                setting("logBufferBytes most", builder -> builder.logBufferBytes(256 * MIB)),
                setting("logSegmentBytes least", builder -> builder.logSegmentBytes(16 * KIB)),
                setting("logSegmentBytes most", builder -> builder.logSegmentBytes((int) GIB)),
                setting("heapSegmentBytes least", builder -> builder.heapSegmentBytes(8 * KIB)),
                setting("heapSegmentBytes most", builder -> builder.heapSegmentBytes((int) GIB)),
                setting("checkpointFloorBytes least", builder -> builder.checkpointFloorBytes(0)),
                setting("checkpointFloorBytes most", builder -> builder.checkpointFloorBytes(Long.MAX_VALUE)),
                setting("checkpointFraction least", builder -> builder.checkpointFraction(Double.MIN_VALUE)),
                setting("checkpointFraction most", builder -> builder.checkpointFraction(1)),
                setting(
                        "heapPressure least",
                        builder -> builder.heapPressure(Double.MIN_VALUE, 0.001, (a, b, c) -> {})),
                setting("heapPressure most", builder -> builder.heapPressure(1, 1, (a, b, c) -> {})));
    }

    private static Arguments setting(String name, Consumer<StoreConfig.Builder> setting) {
        return Arguments.argumentSet(name, setting);
    }

    @ParameterizedTest
    @MethodSource
    void acceptsSettingsAtTheirBounds(Consumer<StoreConfig.Builder> setting) {
        setting.accept(builder());
    }

    static Stream<Arguments> rejectsSettingsOutOfBounds() {
        return Stream.of(
                wrong("maxHeapBytes", builder -> builder.maxHeapBytes(BLOCK - 1)),
                wrong("maxHeapBytes", builder -> builder.maxHeapBytes(2048 * GIB + 1)),
                wrong("maxHeapBytes", builder -> builder.maxHeapBytes(-1)),
                wrong("maxValueBytes", builder -> builder.maxValueBytes(0)),
                wrong("maxValueBytes", builder -> builder.maxValueBytes(-1)),
                wrong("maxValueBytes", builder -> builder.maxValueBytes(StoreConfig.MAX_VALUE_BYTES + 1)),
                wrong("logBufferBytes", builder -> builder.logBufferBytes(0)),
                wrong("logBufferBytes", builder -> builder.logBufferBytes(8 * KIB - 1)),
                wrong("logBufferBytes", builder -> builder.logBufferBytes(256 * MIB + 1)),
                wrong("logSegmentBytes", builder -> builder.logSegmentBytes(0)),
                wrong("logSegmentBytes", builder -> builder.logSegmentBytes(16 * KIB - 1)),
                wrong("logSegmentBytes", builder -> builder.logSegmentBytes((int) GIB + 1)),
                wrong("heapSegmentBytes", builder -> builder.heapSegmentBytes(0)),
                wrong("heapSegmentBytes", builder -> builder.heapSegmentBytes(8 * KIB - 1)),
                wrong("heapSegmentBytes", builder -> builder.heapSegmentBytes((int) GIB + 1)),
                wrong("checkpointFloorBytes", builder -> builder.checkpointFloorBytes(-1)),
                wrong("checkpointFraction", builder -> builder.checkpointFraction(0)),
                wrong("checkpointFraction", builder -> builder.checkpointFraction(-0.5)),
                wrong("checkpointFraction", builder -> builder.checkpointFraction(1.01)),
                wrong("checkpointFraction", builder -> builder.checkpointFraction(Double.NaN)),
                wrong("usedThreshold", builder -> builder.heapPressure(0, 1, (a, b, c) -> {})),
                wrong("usedThreshold", builder -> builder.heapPressure(1.01, 1, (a, b, c) -> {})),
                wrong("usedThreshold", builder -> builder.heapPressure(Double.NaN, 1, (a, b, c) -> {})),
                wrong("fragmentationThreshold", builder -> builder.heapPressure(1, 0, (a, b, c) -> {})),
                wrong("fragmentationThreshold", builder -> builder.heapPressure(1, 1.01, (a, b, c) -> {})),
                wrong("fragmentationThreshold", builder -> builder.heapPressure(1, Double.NaN, (a, b, c) -> {})));
    }

    private static Arguments wrong(String name, Consumer<StoreConfig.Builder> setting) {
        return Arguments.of(name, setting);
    }

    @ParameterizedTest(name = "{index} {0}")
    @MethodSource
    void rejectsSettingsOutOfBounds(String name, Consumer<StoreConfig.Builder> setting) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> setting.accept(builder()))
                .withMessageContaining(name)
                .withMessageContaining("was ");
    }

    static Stream<Arguments> rejectsIncompatibleSettings() {
        return Stream.of(
                wrong("logBufferBytes", builder -> builder.logBufferBytes(12 * KIB + 1)),
                wrong("logSegmentBytes", builder -> builder.logSegmentBytes(16 * KIB + 1)),
                wrong("heapSegmentBytes", builder -> builder.heapSegmentBytes(12 * KIB - 1)),
                wrong(
                        "logBufferBytes",
                        builder -> builder.maxValueBytes(4 * KIB + 1)
                                .heapSegmentBytes(12 * KIB)
                                .maxHeapBytes(12 * KIB)),
                wrong(
                        "heapSegmentBytes",
                        builder -> builder.maxValueBytes(4 * KIB + 1).logBufferBytes(12 * KIB)),
                wrong("heapSegmentBytes", builder -> builder.maxValueBytes(4 * KIB - 7)),
                wrong("heapSegmentBytes", builder -> builder.maxValueBytes(4 * KIB)),
                wrong("logSegmentBytes", builder -> builder.logBufferBytes(16 * KIB)),
                wrong("maxHeapBytes", builder -> builder.heapSegmentBytes(12 * KIB)),
                wrong("maxHeapBytes", builder -> builder.maxHeapBytes(8 * KIB - 1)));
    }

    @ParameterizedTest(name = "{index} {0}")
    @MethodSource
    void rejectsIncompatibleSettings(String name, Consumer<StoreConfig.Builder> setting) {
        StoreConfig.Builder builder = smallest();
        setting.accept(builder);
        assertThatIllegalArgumentException().isThrownBy(builder::build).withMessageStartingWith(name);
    }

    @Test
    void acceptsBarelyCompatibleSettings() {
        smallest().build();
        smallest().logBufferBytes(12 * KIB).build();
        smallest().heapSegmentBytes(12 * KIB).maxHeapBytes(12 * KIB).build();
    }

    @Test
    void buffersAndSegmentsGrowWithMaxValueBytes() {
        for (int maxValueBytes :
                new int[] {1, KIB, 4 * MIB - BLOCK, 4 * MIB, 5 * MIB + 1, 31 * MIB, StoreConfig.MAX_VALUE_BYTES}) {
            StoreConfig config = builder().maxValueBytes(maxValueBytes).build();
            assertThat(config.logBufferBytes()).isGreaterThanOrEqualTo(maxValueBytes + BLOCK);
            assertThat(config.logSegmentBytes()).isGreaterThanOrEqualTo(config.logBufferBytes() + BLOCK);
            assertThat(config.heapSegmentBytes()).isGreaterThanOrEqualTo(maxValueBytes + BLOCK);
            assertThat(config.logBufferBytes() % BLOCK).isEqualTo(0);
        }
    }

    @Test
    void logSegmentsGrowWithLogBuffer() {
        StoreConfig config = builder().logBufferBytes(256 * MIB).build();
        assertThat(config.logSegmentBytes()).isEqualTo(512 * MIB);
    }

    @Test
    void rejectsExplicitBufferSmallerThanMaxValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        builder().maxValueBytes(8 * MIB).logBufferBytes(4 * MIB).build())
                .withMessageContaining("logBufferBytes");
    }

    @Test
    void reusedBuilderDoesNotChangeBuiltConfigs() {
        StoreConfig.Builder builder = builder().maxValueBytes(KIB);
        StoreConfig first = builder.build();
        StoreConfig second = builder.maxValueBytes(2 * KIB).build();
        assertThat(first.maxValueBytes()).isEqualTo(KIB);
        assertThat(second.maxValueBytes()).isEqualTo(2 * KIB);
    }

    @Test
    void rejectsNullSettings() {
        assertThatNullPointerException().isThrownBy(() -> StoreConfig.builder(null));
        assertThatNullPointerException().isThrownBy(() -> builder().durability(null));
        assertThatNullPointerException().isThrownBy(() -> builder().flushPolicy(null));
        assertThatNullPointerException().isThrownBy(() -> builder().heapPressure(0.5, 0.5, null));
    }
}
