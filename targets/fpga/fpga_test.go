package fpga

import (
	"regexp"
	"testing"
)

// TestRows: every board has a part, every part a family, and names of cells are expressions.
func TestRows(t *testing.T) {
	for _, x := range Targets() {
		if x.Part.LUTs == 0 || x.Part.RAMKbits == 0 || x.Part.Blocks(x.Family) == 0 || x.Board.ClockMHz == 0 {
			t.Errorf("%+v", x)
		}
		if (x.Part.Device == "") != (x.Family.PlaceRoute == "") {
			t.Errorf("part %s: device %q, but the family's program is %q", x.Part.Name, x.Part.Device, x.Family.PlaceRoute)
		}
		for _, s := range x.Family.Shapes {
			if s.Depth*s.Width > x.Family.BlockBits {
				t.Errorf("family %s: block RAM of %d x %d", x.Family.Name, s.Depth, s.Width)
			}
		}
		for _, c := range x.Family.Cells {
			if _, err := regexp.Compile(c.Pattern); err != nil {
				t.Error(err)
			}
		}
		for _, install := range x.Family.Install {
			if !regexp.MustCompile("^(apt-get|PIP_BREAK_SYSTEM_PACKAGES=1 pip3) install ").MatchString(install) {
				t.Errorf("family %s: %q fails on Debian 12", x.Family.Name, install)
			}
		}
	}
	if _, ok := Lookup("rpi3"); ok {
		t.Error("rpi3 is no FPGA")
	}
}
