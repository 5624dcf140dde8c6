/* The accelerator of {{.Name}} for {{.Board}}. Its streams are bytes ({{.Name}}_accelerator_bytes): pixels in row-major
   order, channels ascending, the first element of a beat in its low bits, the lowest byte of a beat first. */
#ifndef {{.Upper}}_ACCELERATOR_H
#define {{.Upper}}_ACCELERATOR_H

#define {{.Upper}}_CYCLES {{.Cycles}} /* of a picture, in a full pipeline */
#define {{.Upper}}_IN_ELEMENTS {{.In.Elems}} /* of a picture */
#define {{.Upper}}_IN_BEATS {{.In.Beats}} /* of a picture */
#define {{.Upper}}_IN_LANES {{.In.Lanes}} /* elements of a beat */
#define {{.Upper}}_IN_BITS {{.In.Bits}} /* bits of an element */
#define {{.Upper}}_IN_BYTES {{.InBytes}} /* bytes of a beat */

#define {{.Upper}}_OUT_ELEMENTS {{.Out.Elems}}
#define {{.Upper}}_OUT_BEATS {{.Out.Beats}}
#define {{.Upper}}_OUT_LANES {{.Out.Lanes}}
#define {{.Upper}}_OUT_BITS {{.Out.Bits}}
#define {{.Upper}}_OUT_BYTES {{.OutBytes}}

/* {{.Name}}_pack makes the bytes of a picture, {{.Upper}}_IN_BEATS * {{.Upper}}_IN_BYTES, of its levels, a byte each. */
static inline void {{.Name}}_pack(const unsigned char *levels, unsigned char *bytes) {
    for (long i = 0; i < (long){{.Upper}}_IN_BEATS * {{.Upper}}_IN_BYTES; i++)
        bytes[i] = 0;
    for (long i = 0; i < {{.Upper}}_IN_ELEMENTS; i++) {
        unsigned v = levels[i]{{if .Flip}} ^ {{.Flip}}u{{end}};
        long at = i / {{.Upper}}_IN_LANES * {{.Upper}}_IN_BYTES * 8 + i % {{.Upper}}_IN_LANES * {{.Upper}}_IN_BITS;
{{- if .Inverted}}
        v = {{.Top}}u - v;
{{- end}}
        for (int b = 0; b < {{.Upper}}_IN_BITS; b++)
            bytes[(at + b) / 8] |= (unsigned char)((v >> b & 1u) << (at + b) % 8);
    }
}
{{if .Offsets}}
/* {{.Name}}_unpack makes the sums of a picture, as floats, of {{.Upper}}_OUT_BEATS * {{.Upper}}_OUT_BYTES bytes. */
static inline void {{.Name}}_unpack(const unsigned char *bytes, float *sums) {
    static const long offsets[] = { {{- range $i, $k := .Offsets}}{{if $i}}, {{end}}{{$k}}{{end -}} };
    const long channels = (long)(sizeof offsets / sizeof offsets[0]);
{{- else if .Positions}}
/* {{.Name}}_unpack makes the positions of a picture of {{.Upper}}_OUT_BEATS * {{.Upper}}_OUT_BYTES bytes. */
static inline void {{.Name}}_unpack(const unsigned char *bytes, int *positions) {
{{- else}}
/* {{.Name}}_unpack makes the levels of a picture, a byte each, of {{.Upper}}_OUT_BEATS * {{.Upper}}_OUT_BYTES bytes. */
static inline void {{.Name}}_unpack(const unsigned char *bytes, unsigned char *levels) {
{{- end}}
    for (long i = 0; i < {{.Upper}}_OUT_ELEMENTS; i++) {
        long at = i / {{.Upper}}_OUT_LANES * {{.Upper}}_OUT_BYTES * 8 + i % {{.Upper}}_OUT_LANES * {{.Upper}}_OUT_BITS;
        long v = 0;
        for (int b = 0; b < {{.Upper}}_OUT_BITS; b++)
            v |= (long)(bytes[(at + b) / 8] >> (at + b) % 8 & 1) << b;
{{- if .Offsets}}
        if (v >> ({{.Upper}}_OUT_BITS - 1)) /* a negative number */
            v -= (long)1 << {{.Upper}}_OUT_BITS;
        sums[i] = (float)(v{{if ne .Step 1}} * {{.Step}}{{end}} + offsets[i % channels]);
{{- else if .Positions}}
        positions[i] = (int)v;
{{- else}}
{{- if .OutInverted}}
        v = {{.OutTop}} - v;
{{- end}}
        levels[i] = (unsigned char)(v{{if .OutFlip}} ^ {{.OutFlip}}{{end}});
{{- end}}
    }
}

#endif
