package io.caravan.server.document.space;

import io.caravan.catalog.Attributes;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of one space's settings. Immutable. */
public final class SpaceSettings {
    public static final SpaceSettings NONE = new SpaceSettings(new long[SpaceSetting.values().length]);

    /** The value of each setting, in the order of {@link SpaceSetting}; 0 for a setting that is not set. */
    private final long[] values;

    private SpaceSettings(long[] values) {
        this.values = values;
    }

    public long get(SpaceSetting setting) {
        return values[setting.ordinal()];
    }

    public boolean has(SpaceSetting setting) {
        return get(setting) != 0;
    }

    boolean isEmpty() {
        return shown().isEmpty();
    }

    public boolean exceeds(SpaceSetting setting, long number) {
        long most = get(setting);
        return most != 0 && number > most;
    }

    /**
     * Returns a copy in which this setting has this value.
     *
     * @param value from 1 to the setting's maximum, or 0 to clear the setting
     * @throws IllegalArgumentException when the value is out of range
     */
    public SpaceSettings with(SpaceSetting setting, long value) {
        if (value < 0 || value > setting.max()) {
            throw new IllegalArgumentException(
                    setting.key() + " must be from 1 to " + setting.max() + ", or 0 to unset it, was " + value);
        }
        long[] changed = values.clone();
        changed[setting.ordinal()] = value;
        return new SpaceSettings(changed);
    }

    /** Returns the settings that are set, by name, in the form that users see: numbers and words. */
    public Map<String, Object> shown() {
        Map<String, Object> shown = new LinkedHashMap<>();
        for (SpaceSetting setting : SpaceSetting.values()) {
            if (has(setting)) {
                shown.put(setting.key(), setting.shown(get(setting)));
            }
        }
        return shown;
    }

    @Nullable
    DocumentDurability durability() {
        return has(SpaceSetting.DURABILITY)
                ? DocumentDurability.values()[(int) get(SpaceSetting.DURABILITY) - 1]
                : null;
    }

    Attributes encode() {
        Attributes encoded = Attributes.EMPTY;
        for (SpaceSetting setting : SpaceSetting.values()) {
            if (has(setting)) {
                byte[] value =
                        ByteBuffer.allocate(Long.BYTES).putLong(get(setting)).array();
                encoded = encoded.with(setting.key(), value);
            }
        }
        return encoded;
    }

    /**
     * Decodes the settings of a space.
     *
     * @return the settings, or null if a setting or the word of a setting is unknown, because a later release added it
     * @throws IllegalArgumentException when the bytes are not settings in the format of this version
     */
    static @Nullable SpaceSettings decode(Attributes encoded) {
        SpaceSettings settings = NONE;
        for (Map.Entry<String, byte[]> each : encoded.asMap().entrySet()) {
            SpaceSetting setting = SpaceSetting.find(each.getKey());
            byte[] value = each.getValue();
            if (setting != null && value.length != Long.BYTES) {
                throw new IllegalArgumentException(
                        setting.key() + " has " + value.length + " bytes instead of " + Long.BYTES);
            }
            if (setting == null || ByteBuffer.wrap(value).getLong() > setting.max()) {
                return null;
            }
            settings = settings.with(setting, ByteBuffer.wrap(value).getLong());
        }
        return settings;
    }

    @Override
    public String toString() {
        return shown().toString();
    }
}
