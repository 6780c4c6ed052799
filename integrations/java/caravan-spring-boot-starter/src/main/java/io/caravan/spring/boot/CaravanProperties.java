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
 * @param directory The store's directory, which is created when it is missing. Must be set.
 * @param durability What has happened to a write before it is acknowledged.
 * @param flushPolicy How long writes gather before they are forced together.
 * @param flushDelay How long they gather with the flush policy 'delay', from 0 to one minute.
 * @param maxValue Greatest length of one value, to just under 32MB.
 * @param maxHeap Upper bound of the heap's files, to 2TB. Appends beyond it are refused.
 * @param checkpointFloor Least log between two checkpoints. Less shortens the log and the start after a crash, more makes
 *     checkpoints rarer.
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

    /** How long writes gather before they are forced together. */
    public enum Flush {
        /** See {@link FlushPolicy#immediate()}. */
        IMMEDIATE,
        /** See {@link FlushPolicy#adaptive()}. */
        ADAPTIVE,
        /** See {@link FlushPolicy#fixedDelay}. */
        DELAY
    }

    /**
     * The store's config.
     *
     * @throws InvalidConfigurationPropertyValueException when no directory is set, or values may be longer than they can be
     * @throws IllegalArgumentException when another setting is out of its range
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
