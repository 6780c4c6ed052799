package io.caravan.spring.boot;

import io.caravan.Durability;
import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the store that an application embeds. {@link StoreConfig} has their ranges.
 *
 * @param directory Directory of the store, which is created if it is missing. Required.
 * @param durability Level that a write reaches before it is acknowledged.
 * @param flushPolicy How long the store collects writes for one fsync.
 * @param flushDelay Delay for the flush policy 'delay', from 0 to one minute.
 * @param maxValue Maximum length of one value, up to just under 32MB.
 * @param maxHeap Maximum size of the heap files, up to 2TB. At this limit, the store rejects appends.
 * @param checkpointFloor Minimum length of the log between two checkpoints. A smaller value shortens the log and the
 *     recovery, a larger value makes checkpoints rarer.
 */
@ConfigurationProperties("caravan")
public record CaravanProperties(
        @Nullable Path directory,
        @DefaultValue("sync") Durability durability,
        @DefaultValue("immediate") Flush flushPolicy,
        @DefaultValue("1ms") Duration flushDelay,
        @DefaultValue("1MB") DataSize maxValue,
        @DefaultValue("1TB") DataSize maxHeap,
        @DefaultValue("64MB") DataSize checkpointFloor) {

    /** The policy by which the store collects writes for one fsync. */
    public enum Flush {
        /** See {@link FlushPolicy#immediate()}. */
        IMMEDIATE,
        /** See {@link FlushPolicy#adaptive()}. */
        ADAPTIVE,
        /** See {@link FlushPolicy#fixedDelay}. */
        DELAY
    }

    /**
     * Returns the configuration of the store.
     *
     * @throws InvalidConfigurationPropertyValueException if no directory is set, or if the maximum length of a value is
     *     too large
     * @throws IllegalArgumentException if another setting is out of its range
     */
    public StoreConfig toConfig() {
        if (directory == null) {
            throw new InvalidConfigurationPropertyValueException(
                    "caravan.directory", null, "The store needs a directory of its own.");
        }
        if (maxValue.toBytes() > StoreConfig.MAX_VALUE_BYTES) {
            throw new InvalidConfigurationPropertyValueException(
                    "caravan.max-value",
                    maxValue,
                    "A value has at most " + StoreConfig.MAX_VALUE_BYTES + " bytes, just under 32MB.");
        }
        return StoreConfig.builder(directory)
                .durability(durability)
                .flushPolicy(
                        switch (flushPolicy) {
                            case IMMEDIATE -> FlushPolicy.immediate();
                            case ADAPTIVE -> FlushPolicy.adaptive();
                            case DELAY -> FlushPolicy.fixedDelay(flushDelay);
                        })
                .maxValueBytes((int) maxValue.toBytes())
                .maxHeapBytes(maxHeap.toBytes())
                .checkpointFloorBytes(checkpointFloor.toBytes())
                .build();
    }
}
